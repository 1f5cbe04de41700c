// The dashboard: one stream of overviews, a page for each batch and sample, drawn anew at every change.
// Whatever comes from the server is put in as text, never as markup: programs and ids are somebody else's.

// From the bottom of the stack to its top: right, wrong, crashed, over a limit, forbidden, in doubt.
const VERDICTS = ["passed", "output_mismatch", "assert_fail", "runtime_error", "compile_error", "time_out",
  "memory_exceed", "output_exceed", "resource_denied", "not_run", "unknown", "internal_error"];
const RULES = {
  verdict_surge: "A verdict surges", tail_growth: "The tail grows", unknown_rise: "Unknowns rise",
  throughput_fall: "Throughput falls", interception_fall: "Interception falls", quarantine: "A sample is quarantined",
};
const DISTRIBUTIONS = { work: "Verifying", waiting: "Waiting", cases: "Cases" };
const PAGE = 100;
const MOST_CASES = 500;
const SILENCE_MS = 15000;

const state = {
  range: 900, distribution: "work", stack: "share", overview: null, batch: null, sample: null, problem: null,
  hover: null, widths: {}, charts: {}, watch: 0,
};
const $ = (id) => document.getElementById(id);

// --- drawing: a new tree is made, and the old one is changed to be like it, so that focus and scrolling stay ----------

const SVG = new Set(["svg", "g", "path", "rect", "line", "text"]);

function h(tag, attributes, ...kids) {
  const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const kid of kids.flat(Infinity)) {
    if (kid !== null && kid !== undefined && kid !== false) element.append(kid);
  }
  return element;
}

const keyOf = (node) => node.dataset?.key;

function morph(old, next) {
  if (old.nodeName !== next.nodeName || keyOf(old) !== keyOf(next)) return old.replaceWith(next);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return undefined;
  }
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  return morphKids(old, [...next.childNodes]);
}

function morphKids(old, kids) {
  const keyed = new Map([...old.childNodes].filter(keyOf).map((node) => [keyOf(node), node]));
  let at = old.firstChild;
  for (const kid of kids) {
    const key = keyOf(kid);
    const match = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === kid.nodeName ? at : null;
    if (!match) old.insertBefore(kid, at);
    else {
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      morph(match, kid);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// --- words -----------------------------------------------------------------------------------------------------------

const count = (value) => value.toLocaleString("en");
const sum = (values) => values.reduce((total, value) => total + value, 0);
const plural = (value, noun, many = `${noun}s`) => `${count(value)} ${value === 1 ? noun : many}`;

function digits(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
}

function time(seconds) {
  if (seconds === null || seconds === undefined) return ["–", ""];
  if (seconds === 0) return ["0", "s"];
  if (seconds < 0.000995) return [digits(seconds * 1e6), "µs"];
  if (seconds < 0.995) return [digits(seconds * 1e3), "ms"];
  return seconds < 120 ? [digits(seconds), "s"] : seconds < 7200 ? [digits(seconds / 60), "min"] : [digits(seconds / 3600), "h"];
}

const said = (seconds) => time(seconds).join("\u202f").trim();

function percent(share) {
  if (share === null || !Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${value === 0 || value === 100 ? value : value < 0.1 ? "<0.1" : value.toFixed(value < 10 || (value > 99 && value < 100) ? 1 : 0)}\u202f%`;
}

function bytes(value) {
  const unit = ["B", "KiB", "MiB", "GiB"][Math.min(3, Math.floor(Math.log2(Math.max(value, 1)) / 10))];
  return `${digits(value / 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit))}\u202f${unit}`;
}

const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const words = (name) => name.replaceAll("_", " ");
const short = (id) => (id.length > 14 ? `${id.slice(0, 12)}…` : id);

// --- charts ----------------------------------------------------------------------------------------------------------

const width = (id) => Math.max(120, state.widths[id] ?? 600);

function frame(id, height, label, marks, chart) {
  state.charts[id] = chart;
  const at = state.hover?.id === id && chart.x.length ? Math.min(state.hover.index, chart.x.length - 1) : null;
  const cursor = at !== null && h("line", { class: "cursor", x1: chart.x[at], x2: chart.x[at], y1: chart.top ?? 0, y2: chart.bottom ?? height });
  return h("svg", {
    class: "chart", "data-chart": id, role: "img", "aria-label": label, tabindex: chart.x.length ? 0 : null,
    height, viewBox: `0 0 ${width(id)} ${height}`, preserveAspectRatio: "none",
  }, marks, cursor);
}

function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

const shape = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L");

// Runs of steps that have something: [[first, last], …].
function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value === null) return;
    if (found.length && found.at(-1)[1] === index - 1) found.at(-1)[1] = index;
    else found.push([index, index]);
  });
  return found;
}

// A line through the middles of the steps, drawn flat to the ends of its run.
const outline = ([first, last], x, step, y) => [[x(first), y(first)],
  ...Array.from({ length: last - first + 1 }, (_, n) => [x(first + n) + step / 2, y(first + n)]), [x(last) + step, y(last)]];

function stacked(series) {
  const id = "verdicts", height = 268, left = 44, top = 8, bottom = height - 26, right = width(id);
  const totals = series.at.map((_, index) => sum(VERDICTS.map((verdict) => series.verdicts[verdict][index])));
  if (!sum(totals)) return emptiness("No samples yet", "Verdicts appear here as samples finish.");
  const shares = state.stack === "share";
  const most = shares ? 1 : ceiling(Math.max(...totals) / series.step_s);
  const step = (right - left) / totals.length;
  const x = (index) => left + index * step;
  const y = (value) => bottom - (bottom - top) * value / most;
  const scaled = (value, index) => (shares ? value / totals[index] : value / series.step_s);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => [
    h("line", { class: part ? "grid" : "base", x1: left, x2: right, y1: y(part * most), y2: y(part * most) }),
    h("text", { x: left - 8, y: y(part * most) + 4, "text-anchor": "end" }, shares ? `${part * 100}%` : digits(part * most)),
  ]);
  const below = totals.map(() => 0), layers = [];
  for (const verdict of VERDICTS) {
    const counts = series.verdicts[verdict];
    if (!sum(counts)) continue;
    const from = below.slice();
    counts.forEach((value, index) => { below[index] += value; });
    for (const run of runs(totals.map((total) => (total || !shares ? total : null)))) {
      const upper = outline(run, x, step, (index) => y(scaled(below[index], index)));
      const lower = outline(run, x, step, (index) => y(scaled(from[index], index)));
      layers.push(h("path", { class: `fill v-${verdict}`, d: `M${shape([...upper, ...lower.reverse()])}Z` }), h("path", { class: "edge", d: `M${shape(upper)}` }));
    }
  }
  const parts = right < 480 ? [0, 1] : [0, 1 / 3, 2 / 3, 1];
  const marks = parts.map((part) => h("text", { x: left + (right - left) * part, y: height - 6, "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle" },
    part === 1 ? "now" : `−${said(Math.round(series.step_s * totals.length * (1 - part)))}`));
  const lines = (index) => [`${clock(series.at[index])} · ${plural(totals[index], "sample")}`,
    ...VERDICTS.filter((verdict) => series.verdicts[verdict][index])
      .map((verdict) => `${words(verdict)}  ${percent(series.verdicts[verdict][index] / totals[index])}`)].join("\n");
  const label = `Verdicts over time. ${VERDICTS.filter((verdict) => sum(series.verdicts[verdict])).map((verdict) => `${words(verdict)} ${percent(sum(series.verdicts[verdict]) / sum(totals))}`).join(", ")}.`;
  return frame(id, height, label, [grid, layers, marks], { x: totals.map((_, index) => x(index) + step / 2), tip: lines, top, bottom });
}

// A distribution over buckets that grow by the same factor, so the axis is logarithmic; padded to be no wall of few bars.
function histogram(id, distribution, { unit = said, noun = "sample", height = 236 } = {}) {
  if (!distribution.count) return emptiness("Nothing yet", `No ${noun} has been measured in this time.`);
  const { bounds, counts } = padded(distribution, 14);
  const left = 8, right = width(id) - 8, top = 52, bottom = height - 26;
  const step = (right - left) / counts.length, most = Math.max(...counts);
  const logs = bounds.map((value) => Math.log10(value));
  const place = (value) => left + (right - left) * Math.min(1, Math.max(0, (Math.log10(value) - logs[0]) / (logs.at(-1) - logs[0])));
  const bars = counts.map((value, index) => {
    const tall = value ? Math.max(2, (bottom - top) * value / most) : 0;
    return h("rect", { class: "bar-fill", x: left + index * step + 0.75, width: Math.max(1, step - 1.5), y: bottom - tall, height: tall, rx: Math.min(3, tall / 2) });
  });
  const every = Math.ceil(counts.length / Math.max(2, Math.floor((right - left) / 74)));
  const ticks = bounds.map((value, index) => (index % every === Math.floor(every / 2) ? h("text", { x: left + index * step, y: height - 6, "text-anchor": "middle" }, unit(Number(value.toPrecision(2)))) : null));
  const taken = [];
  const quantiles = ["p50", "p90", "p99"].map((name) => {
    const at = place(distribution[name]), text = `${name} ${unit(distribution[name])}`;
    const end = at > right - 88, extent = end ? [at - 88, at] : [at, at + 88];
    let row = 0;
    while (taken.some((other) => other.row === row && other.extent[0] < extent[1] && extent[0] < other.extent[1])) row += 1;
    taken.push({ row, extent });
    return [h("line", { class: "quantile", x1: at, x2: at, y1: 8 + row * 15, y2: bottom }), h("text", { x: at + (end ? -5 : 5), y: 14 + row * 15, "text-anchor": end ? "end" : "start" }, text)];
  });
  const tip = (index) => `${unit(bounds[index])} to ${unit(bounds[index + 1])}\n${plural(counts[index], noun)} · ${percent(counts[index] / distribution.count)}`;
  const label = `Distribution of ${plural(distribution.count, noun)}: half within ${unit(distribution.p50)}, 90 % within ${unit(distribution.p90)}, 99 % within ${unit(distribution.p99)}.`;
  return frame(id, height, label, [h("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }), bars, ticks, quantiles],
    { x: counts.map((_, index) => left + (index + 0.5) * step), tip, top, bottom });
}

function padded({ bounds, counts }, least) {
  const ratio = bounds.length > 2 ? bounds.at(-1) / bounds.at(-2) : 10 ** 0.2;
  const own = { bounds: bounds.slice(), counts: counts.slice() };
  if (!own.bounds[0]) own.bounds[0] = own.bounds[1] / ratio;
  for (let turn = 0; own.counts.length < least; turn += 1) {
    if (turn % 2) {
      own.bounds.push(own.bounds.at(-1) * ratio);
      own.counts.push(0);
    } else {
      own.bounds.unshift(own.bounds[0] / ratio);
      own.counts.unshift(0);
    }
  }
  return own;
}

function spark(id, series, values, tip, label, least = 0) {
  const height = 28, right = width(id), step = right / values.length;
  const most = Math.max(...values.filter((value) => value !== null), least) || 1;
  const y = (index) => height - 2 - (height - 5) * values[index] / most;
  const x = (index) => index * step;
  const marks = runs(values).map((run) => {
    const line = outline(run, x, step, y);
    return [h("path", { class: "soft-area", d: `M${line[0][0]},${height}L${shape(line)}L${line.at(-1)[0]},${height}Z` }), h("path", { class: "stroke", d: `M${shape(line)}` })];
  });
  return frame(id, height, label, marks, { x: values.map((_, index) => x(index) + step / 2), tip: (index) => `${clock(series.at[index])}\n${values[index] === null ? "–" : tip(values[index])}` });
}

// A distribution in a tile: its shape alone, since the card below has all of it.
function strip(distribution) {
  const { counts } = distribution.count ? padded(distribution, 14) : { counts: [] }, most = Math.max(...counts, 1);
  return h("svg", { width: "100%", height: 28, "aria-hidden": "true" }, counts.map((value, index) => {
    const tall = value ? Math.max(1.5, 26 * value / most) : 0;
    return h("rect", { class: "bar-fill", x: `${100 * index / counts.length}%`, width: `${80 / counts.length}%`, y: 28 - tall, height: tall, rx: 1 });
  }));
}

function bar(parts, total, label, height = 10) {
  let at = 0;
  const pieces = parts.filter(([, value]) => value > 0).map(([name, value]) => {
    const piece = h("rect", { class: `fill ${name}`, x: `${100 * at / total}%`, width: `${Math.max(0.4, 100 * value / total)}%`, height });
    at += value;
    return piece;
  });
  return h("svg", { width: "100%", height, role: "img", "aria-label": label }, h("rect", { class: "track", width: "100%", height, rx: 3 }), pieces);
}

const verdictBar = (verdicts, total, height) => bar(VERDICTS.map((verdict) => [`v-${verdict}`, verdicts[verdict] ?? 0]), Math.max(total, 1),
  VERDICTS.filter((verdict) => verdicts[verdict]).map((verdict) => `${words(verdict)} ${verdicts[verdict]}`).join(", ") || "no results yet", height);

// --- pieces ----------------------------------------------------------------------------------------------------------

const emptiness = (title, text) => h("p", { class: "empty" }, h("b", null, title), text);
const card = (size, title, aside, ...kids) => h("section", { class: `card ${size}`, "aria-label": title }, h("header", null, h("h2", null, title), aside), kids);
const tile = (name, big, unit, note, chart) => h("div", { class: "tile" }, h("dt", null, name), h("dd", { class: "big" }, big, unit && h("small", null, unit)), h("dd", { class: "note" }, note), h("dd", null, chart));
const facts = (rows, kind = "") => h("dl", { class: `facts ${kind}` }, rows.filter(Boolean).map(([name, value, more, hot]) => h("div", null, h("dt", null, name), h("dd", { class: hot && "hot" }, value, more && h("small", null, more)))));
const key = (verdict) => h("span", { class: `key v-${verdict}` }, words(verdict));
const cell = (label, content, kind) => h("td", { "data-label": label, class: kind }, content);
const table = (heads, rows, label) => h("div", { class: "scroll" }, h("table", { class: "stack", "aria-label": label },
  h("thead", null, h("tr", null, heads.map(([name, kind]) => h("th", { scope: "col", class: kind }, name)))), h("tbody", null, rows)));
const choice = (name, options, chosen, legend) => h("fieldset", { class: "segments" }, h("legend", { class: "hidden" }, legend),
  Object.entries(options).map(([value, text]) => h("label", null, h("input", { type: "radio", name, value, checked: value === chosen }), h("span", null, text))));

function legend(verdicts, total) {
  return h("ul", { class: "legend" }, VERDICTS.filter((verdict) => verdicts[verdict])
    .map((verdict) => h("li", { class: `key v-${verdict}`, "data-key": verdict }, words(verdict), " ", h("b", null, percent(verdicts[verdict] / total)))));
}

// --- the overview ----------------------------------------------------------------------------------------------------

function overviewPage(seen) {
  return [
    h("h1", { class: "hidden" }, "Overview"),
    h("dl", { class: "tiles" }, tiles(seen)),
    card("w8", "Verdicts over time", choice("stack", { share: "Share", rate: "Per second" }, state.stack, "Scale"), stacked(seen.series), legend(seen.counts.verdicts, seen.counts.samples)),
    card("w4 last", "How long it takes", choice("distribution", DISTRIBUTIONS, state.distribution, "What is measured"),
      histogram("times", seen[state.distribution], { noun: state.distribution === "cases" ? "case" : "sample", height: 300 })),
    card("w4", "Worth a look", null, watchList(seen.counts)),
    card("w4", "Workers", h("span", { class: "soft" }, `${seen.workers.length} of ${seen.capacity} up`), workerList(seen)),
    card("w4 last", "Trajectory lengths", h("span", { class: "soft" }, "steps"), trajectories("steps", seen.trajectories, 210)),
    card("", "Recent batches", null, batchTable(seen)),
  ];
}

function trajectories(id, distribution, height = 236) {
  if (!distribution.count) return emptiness("No trajectories", "Samples tell of theirs in meta.trajectory.");
  return histogram(id, distribution, { unit: (value) => count(Math.max(1, Math.round(value))), height });
}

function tiles(seen) {
  const { series, counts } = seen, late = Math.max(1, Math.round(60 / series.step_s));
  const lately = (values) => sum(values.slice(-late)) / late;
  const totals = series.at.map((_, index) => sum(VERDICTS.map((verdict) => series.verdicts[verdict][index])));
  const passed = series.verdicts.passed.map((value, index) => (totals[index] ? value / totals[index] : null));
  const [middle, unit] = time(seen.work.p50);
  const busy = lately(series.busy);
  return [
    tile("Throughput", digits(lately(series.rate)), "samples/s", `${digits(seen.rate)}/s over ${said(seen.range_s)}`,
      spark("rate", series, series.rate, (value) => `${digits(value)} samples/s`, "Throughput over time")),
    tile("Passed", percent(counts.samples ? (counts.verdicts.passed ?? 0) / counts.samples : null), "", `of ${plural(counts.samples, "sample")}`,
      spark("passed", series, passed, percent, "Share of passed samples over time")),
    tile("Sample time", middle, unit && `${unit} median`, `p90 ${said(seen.work.p90)} · p99 ${said(seen.work.p99)}`,
      strip(seen.work)),
    tile("Queue", count(seen.queue), seen.queue === 1 ? "sample" : "samples", `in ${plural(seen.open_batches, "open batch", "open batches")}`,
      spark("queue", series, series.queue, (value) => plural(value, "sample"), "Queue over time")),
    tile("Worker load", percent(busy), "", `${seen.workers.length} of ${plural(seen.capacity, "worker")} up`, spark("busy", series, series.busy, (value) => `${percent(value)} busy`, "Worker load over time", 1)),
    tile("Cache hits", percent(counts.samples ? counts.cached / counts.samples : null), "", `${count(counts.cached)} from the cache`,
      spark("cached", series, series.cached, percent, "Cache hit rate over time")),
  ];
}

function watchList(counts) {
  const share = (value) => (counts.samples ? percent(value / counts.samples) : "");
  return facts([
    ["Denied something", count(counts.denied), share(counts.denied)],
    ["Risky", count(counts.risky), share(counts.risky)],
    ["Re-verified", count(counts.reverified_samples), plural(counts.reverified_cases, "case")],
    ["Reward masked", count(counts.masked), share(counts.masked), counts.masked > 0],
    ["Workers lost", count(counts.worker_losses), "", counts.worker_losses > 0],
    ["Quarantined", count(counts.quarantined), "", counts.quarantined > 0],
  ]);
}

function workerList(seen) {
  if (!seen.workers.length) return emptiness("No workers yet", "They start with the first batch.");
  const rows = seen.workers.slice(0, 6).map((worker) => [`Worker ${worker.worker}`, `up ${said(seen.at - worker.since)}`, `${worker.tier} · pid ${worker.pid}`]);
  if (seen.workers.length > 6) rows[5] = ["Others", count(seen.workers.length - 5), ""];
  return facts(rows);
}

function batchTable(seen) {
  if (!seen.batches.length) return emptiness("No batches yet", "Submit one, and it appears here at once.");
  const heads = [["Batch"], ["State"], ["Accepted", "num"], ["Samples", "num"], ["Verdicts"], ["Median", "num"], ["p99", "num"], ["Cache hits", "num"], ["Re-verified", "num"], ["Denied", "num"]];
  return table(heads, seen.batches.map((batch) => h("tr", { "data-key": batch.batch_id, "data-href": `#/batch/${encodeURIComponent(batch.batch_id)}` },
    cell("Batch", h("a", { href: `#/batch/${encodeURIComponent(batch.batch_id)}`, class: "mono", title: batch.batch_id }, short(batch.batch_id)), "lead"),
    cell("State", stateBadge(batch)), cell("Accepted", `${said(Math.max(0, seen.at - batch.accepted_at))} ago`, "num"),
    cell("Samples", batch.finished === batch.samples ? count(batch.samples) : `${count(batch.finished)} of ${count(batch.samples)}`, "num"),
    cell("Verdicts", verdictBar(batch.verdicts, batch.samples), "wide"),
    cell("Median", said(batch.p50_s), "num"), cell("p99", said(batch.p99_s), "num"),
    cell("Cache hits", percent(batch.finished ? batch.cached / batch.finished : null), "num"),
    cell("Re-verified", count(batch.reverified), "num"), cell("Denied", count(batch.denied), "num"))), "Recent batches");
}

const stateBadge = (batch) => h("span", { class: `badge ${batch.state === "FAILED" ? "hot" : ""}` }, { PENDING: "running", DONE: "done", FAILED: "failed" }[batch.state] ?? batch.state);

// --- a batch, a sample, a case ---------------------------------------------------------------------------------------

const crumbs = (...steps) => h("nav", { "aria-label": "Where you are" }, h("ol", { class: "crumbs" }, [["Overview", "#/"], ...steps].map(([text, href]) => h("li", null, href ? h("a", { href }, text) : h("span", { "aria-current": "page" }, text)))));
const batchLink = (id, query = "") => `#/batch/${encodeURIComponent(id)}${query}`;

function batchPage(route, detail) {
  const { batch } = detail, id = batch.batch_id;
  const took = batch.finished_at === null ? null : batch.finished_at - batch.accepted_at;
  const chips = [["", `all ${count(batch.finished)}`], ...VERDICTS.filter((verdict) => batch.verdicts[verdict]).map((verdict) => [verdict, `${words(verdict)} ${count(batch.verdicts[verdict])}`])];
  return [
    crumbs([`Batch ${short(id)}`]),
    h("div", { class: "head" }, h("h1", { class: "mono" }, id), stateBadge(batch)),
    card("w4", "In short", null, facts([
      ["Samples", count(batch.samples), batch.finished < batch.samples ? `${count(batch.finished)} finished` : ""],
      ["Passed", percent(batch.finished ? (batch.verdicts.passed ?? 0) / batch.finished : null)],
      ["Accepted", clock(batch.accepted_at)], ["Took", took === null ? "still running" : said(took)],
      ["Cache hits", count(batch.cached)], ["Re-verified", count(batch.reverified)], ["Denied something", count(batch.denied)],
      ["Reward masked", count(batch.masked), "", batch.masked > 0]])),
    card(detail.trajectories.count ? "w4" : "w8", "How long it takes", choice("distribution", DISTRIBUTIONS, state.distribution, "What is measured"),
      histogram("batch-times", detail[state.distribution], { noun: state.distribution === "cases" ? "case" : "sample" })),
    detail.trajectories.count > 0 && card("w4 last", "Trajectory lengths", h("span", { class: "soft" }, "steps"), trajectories("batch-steps", detail.trajectories)),
    card("", "Samples", null, verdictBar(batch.verdicts, batch.samples, 14),
      h("nav", { class: "chips filter", "aria-label": "Filter by verdict" }, chips.map(([verdict, text]) => h("a", {
        class: "chip", href: batchLink(id, verdict && `?verdict=${verdict}`), "aria-current": route.verdict === verdict ? "true" : null, "data-key": verdict || "all",
      }, verdict ? h("span", { class: `key v-${verdict}` }, text) : text))),
      detail.rows.length ? sampleTable(id, detail) : emptiness("No samples here", batch.finished ? "Their results have made room for newer ones." : "None has finished yet."),
      pager(route, detail)),
  ];
}

function sampleTable(id, detail) {
  const heads = [["Sample"], ["Problem"], ["Verdict"], ["Pass rate", "num"], ["Reward", "num"], ["Cases", "num"], ["Time", "num"], ["Waited", "num"], ["Notes"]];
  return table(heads, detail.rows.map((row) => h("tr", { "data-key": row.index, "data-href": batchLink(id, `/sample/${row.index}`) },
    cell("Sample", h("a", { href: batchLink(id, `/sample/${row.index}`), class: "clip", title: row.id }, row.id || `(${row.index})`), "lead"),
    cell("Problem", h("span", { class: "clip", title: row.problem_id }, row.problem_id ?? "–")), cell("Verdict", key(row.verdict), "bare"),
    cell("Pass rate", percent(row.pass_rate), "num"), cell("Reward", row.masked ? "masked" : row.reward === null ? "–" : digitsOf(row.reward), "num"),
    cell("Cases", count(row.cases), "num"), cell("Time", said(row.work_s), "num"), cell("Waited", said(row.queue_s), "num"), cell("Notes", notes(row)))), "Samples of the batch");
}

const digitsOf = (value) => String(Number(value.toPrecision(3)));
const notes = (row) => h("span", { class: "chips" }, row.cached && h("span", { class: "badge" }, "cached"), row.reverified > 0 && h("span", { class: "badge" }, "re-verified"),
  row.denied && h("span", { class: "badge hot" }, "denied"), row.risk !== "none" && h("span", { class: "badge hot" }, `risk ${row.risk}`));

function pager(route, detail) {
  if (detail.matching <= PAGE) return null;
  const link = (offset) => batchLink(detail.batch.batch_id, `?offset=${offset}${route.verdict ? `&verdict=${route.verdict}` : ""}`);
  const last = Math.min(detail.matching, detail.offset + PAGE);
  return h("nav", { class: "pager", "aria-label": "Pages" }, detail.offset > 0 && h("a", { href: link(Math.max(0, detail.offset - PAGE)) }, "Previous"),
    `${count(detail.offset + 1)}–${count(last)} of ${count(detail.matching)}`, last < detail.matching && h("a", { href: link(last) }, "Next"));
}

function samplePage(route, { view, result }) {
  const parts = ["queue", "build", "run", "judge"].map((stage) => [stage, result.timings[`${stage}_s`]]);
  const whole = sum(parts.map(([, value]) => value)) || 1;
  return [
    crumbs([`Batch ${short(route.batch)}`, batchLink(route.batch)], [`Sample ${result.id}`, route.case === null ? null : batchLink(route.batch, `/sample/${route.sample}`)], ...(route.case === null ? [] : [[`Case ${result.cases[route.case]?.id}`]])),
    h("div", { class: "head" }, h("h1", null, result.id), h("span", { class: "badge" }, key(result.verdict)), result.cached && h("span", { class: "badge" }, "cached"),
      result.risk !== "none" && h("span", { class: "badge hot" }, `risk ${result.risk}`), result.integrity === "shared" && h("span", { class: "badge" }, "tests share its process")),
    card("w4", "In short", null, facts([
      ["Pass rate", percent(result.pass_rate)], ["Reward", result.masked ? "masked" : result.reward === null ? "–" : digitsOf(result.reward)],
      ["Problem", result.problem_id ?? "–"], ["Decided at", result.stage], ["Isolation", result.tier || "–"],
      result.denied.length > 0 && ["Denied", result.denied.join(", "), "", true]]),
      h("div", { class: "block" }, bar(parts.map(([stage, value]) => [`s-${stage}`, value]), whole, parts.map(([stage, value]) => `${stage} ${said(value)}`).join(", "), 12),
        h("ul", { class: "legend" }, parts.map(([stage, value]) => h("li", { class: `key s-${stage}` }, { queue: "waited", build: "built", run: "ran", judge: "judged" }[stage], " ", h("b", null, said(value))))))),
    card("w8 last", "Program", null, result.code ? code(result.code) : emptiness("No program", "None was found in the response."),
      result.message && block("Message", result.message)),
    route.case !== null && result.cases[route.case] && casePanel(route, view, result.cases[route.case]),
    card("", "Cases", h("span", { class: "soft" }, plural(result.cases.length, "case")), caseTable(route, result.cases)),
  ];
}

const code = (text) => h("pre", { class: "code", tabindex: 0, "aria-label": "Source of the program" }, text.replace(/\n$/, "").split("\n").map((line) => h("span", null, line)));
const block = (title, text) => h("div", { class: "block" }, h("h3", null, title), h("pre", { tabindex: 0, "aria-label": title }, text));

function caseTable(route, cases) {
  const heads = [["Case"], ["Verdict"], ["CPU time", "num"], ["Wall time", "num"], ["Memory", "num"], ["Attempts", "num"], ["Ended", "num"]];
  const shown = cases.slice(0, MOST_CASES).map((one, index) => {
    const href = batchLink(route.batch, `/sample/${route.sample}/case/${index}`);
    return h("tr", { "data-key": index, "data-href": href, "aria-current": route.case === index ? "true" : null },
      cell("Case", h("a", { href, class: "clip", title: one.id }, `Case ${one.id}`), "lead"), cell("Verdict", key(one.verdict), "bare"), cell("CPU time", said(one.cpu_s), "num"), cell("Wall time", said(one.wall_s), "num"),
      cell("Memory", bytes(one.memory_bytes), "num"), cell("Attempts", count(one.attempts), "num"), cell("Ended", ending(one), "num"));
  });
  return [table(heads, shown, "Cases of the sample"), cases.length > MOST_CASES && h("p", { class: "pager" }, `The first ${count(MOST_CASES)} of ${count(cases.length)}`)];
}

const ending = (one) => (one.signal !== null ? `signal ${one.signal}` : one.exit_code !== null ? `exit ${one.exit_code}` : "–");

function casePanel(route, view, one) {
  const texts = [["Difference", one.detail], ["Assertion", one.text], ["Standard output", one.stdout], ["Standard error", one.stderr], ["Conversation", one.transcript]].filter(([, text]) => text);
  return h("section", { class: "card", id: "case", "aria-label": `Case ${one.id}` },
    h("header", null, h("h2", null, `Case ${one.id}`), h("a", { href: batchLink(route.batch, `/sample/${route.sample}`) }, "Close")),
    facts([["Verdict", key(one.verdict)], ["CPU time · wall time", `${said(one.cpu_s)} · ${said(one.wall_s)}`], ["Memory", bytes(one.memory_bytes)], ["Attempts", count(one.attempts)],
      ["Ended", ending(one)], one.score !== null && ["Score", digitsOf(one.score)], ["Difference", digitsOf(one.difference), "of 1"]], "across"),
    h("div", { class: "block" }, texts.map(([title, text]) => block(title, text)),
      texts.length === 0 && h("p", { class: "soft" }, view === "reader" ? "What the program printed, and how it differs, is for operators: it may tell of hidden tests." : "It printed nothing.")));
}

// --- which page ------------------------------------------------------------------------------------------------------

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decodeURIComponent), asked = new URLSearchParams(query);
  const number = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);
  if (parts[0] !== "batch" || !parts[1]) return { page: "overview" };
  const route = { page: "batch", batch: parts[1], verdict: asked.get("verdict") ?? "", offset: number(asked.get("offset")) ?? 0 };
  if (parts[2] === "sample") Object.assign(route, { page: "sample", sample: number(parts[3]), case: parts[4] === "case" ? number(parts[5]) : null });
  return route;
}

function page() {
  const route = routeOf(location.hash);
  if (state.problem && route.page !== "overview") return [crumbs(["Not found"]), emptiness("Not to be had", state.problem)];
  if (route.page === "batch" && state.batch?.batch.batch_id === route.batch) return batchPage(route, state.batch);
  if (route.page === "sample" && state.sample?.of === `${route.batch}/${route.sample}`) return samplePage(route, state.sample);
  if (route.page === "overview" && state.overview) return overviewPage(state.overview);
  return [h("p", { class: "empty" }, "Loading")];
}

function banner() {
  const seen = state.overview;
  const list = (seen?.alerts ?? []).map((alert) => h("li", { class: `alert ${alert.severity}`, "data-key": `${alert.rule}/${alert.subject}` },
    h("b", null, RULES[alert.rule] ?? words(alert.rule)), h("span", { class: "text" }, alert.text), h("time", { "aria-live": "off" }, `for ${said(Math.max(0, seen.at - alert.since))}`)));
  document.title = list.length ? `(${list.length}) ScaleBox` : "ScaleBox";
  return list.length ? [h("ul", null, list)] : [];
}

function render() {
  state.charts = {};
  morphKids($("alerts"), banner());
  morphKids($("main"), page().filter(Boolean));
  tip();
  let changed = false;
  for (const chart of document.querySelectorAll("svg[data-chart]")) {
    const now = Math.round(chart.getBoundingClientRect().width), id = chart.dataset.chart;
    if (now > 0 && width(id) !== Math.max(120, now)) {
      state.widths[id] = now;
      changed = true;
    }
  }
  if (changed) render();
}

// --- talking to the server -------------------------------------------------------------------------------------------

const token = () => sessionStorage.getItem("scalebox.token");

async function ask(path, signal) {
  const answer = await fetch(path, { signal, cache: "no-store", headers: token() ? { Authorization: `Bearer ${token()}` } : {} });
  if ([401, 403, 429].includes(answer.status)) {
    const why = { 401: token() ? "The server does not know this token." : "", 403: "This token's role may not see the dashboard.", 429: "Too many wrong tokens came from here: wait a little." }[answer.status];
    signIn(why);
    throw new Error(why || "a token is needed");
  }
  if (!answer.ok) throw Object.assign(new Error((await answer.json().catch(() => null))?.error?.message ?? `status ${answer.status}`), { status: answer.status });
  return answer;
}

function link(kind, text) {
  $("link").dataset.state = kind;
  $("link").textContent = text;
}

async function watch() {
  const mine = state.watch += 1;
  for (let wait = 500; mine === state.watch && !$("login").open; wait = Math.min(wait * 2, 8000)) {
    try {
      await listen(mine, () => { wait = 250; });
    } catch (error) {
      console.debug("the stream ended", error);
    }
    if (mine !== state.watch || $("login").open) return;
    link("lost", "Reconnecting");
    await new Promise((done) => { setTimeout(done, wait); });
  }
}

async function listen(mine, onEvent) {
  const stop = new AbortController();
  state.stop?.abort();
  state.stop = stop;
  let silence = setTimeout(() => stop.abort(), SILENCE_MS);
  try {
    const answer = await ask(`/v1/telemetry/stream?range_s=${state.range}`, stop.signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = "";;) {
      const { value, done } = await reader.read();
      if (done || mine !== state.watch) return;
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), SILENCE_MS);
      const events = (text + value).split(/\r?\n\r?\n/);
      text = events.pop();
      for (const event of events) receive(event, onEvent);
    }
  } finally {
    clearTimeout(silence);
    stop.abort();
  }
}

function receive(event, onEvent) {
  const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
  if (!data) return;
  state.overview = JSON.parse(data);
  onEvent();
  link("live", "Live");
  const route = routeOf(location.hash);
  if (route.page === "batch" && state.batch?.batch.state === "PENDING") load();
  render();
}

let loading = 0;

async function load() {
  const mine = loading += 1, route = routeOf(location.hash);
  const base = `/v1/telemetry/batches/${encodeURIComponent(route.batch)}`;
  try {
    if (route.page === "batch") {
      const asked = new URLSearchParams({ limit: PAGE, offset: route.offset, ...(route.verdict && { verdict: route.verdict }) });
      const found = await (await ask(`${base}?${asked}`)).json();
      if (mine === loading) state.batch = found;
    } else if (route.page === "sample" && state.sample?.of !== `${route.batch}/${route.sample}`) {
      const found = await (await ask(`${base}/samples/${route.sample}`)).json();
      if (mine === loading) state.sample = { ...found, of: `${route.batch}/${route.sample}` };
    }
    if (mine === loading) state.problem = null;
  } catch (error) {
    if (mine === loading) state.problem = `${error.message}`;
  }
  if (mine === loading) render();
}

function signIn(why) {
  $("login-error").textContent = why;
  if (!$("login").open) $("login").showModal();
  link("wait", "Signed out");
  $("token").focus();
}

function start() {
  $("leave").hidden = !token();
  watch();
  load();
}

// --- what people do --------------------------------------------------------------------------------------------------

function tip() {
  const box = $("tip"), chart = state.hover && state.charts[state.hover.id];
  const element = chart && document.querySelector(`svg[data-chart="${state.hover.id}"]`);
  box.hidden = !element || !chart.x.length;
  if (box.hidden) return;
  const index = Math.min(state.hover.index, chart.x.length - 1), place = element.getBoundingClientRect();
  const text = chart.tip(index);
  if (box.textContent !== text) box.textContent = text;
  const size = box.getBoundingClientRect(), x = place.left + chart.x[index];
  box.style.left = `${Math.max(8, x + 14 + size.width > innerWidth - 8 ? x - 14 - size.width : x + 14)}px`;
  box.style.top = `${Math.max(8, Math.min(place.top + 10, innerHeight - size.height - 8))}px`;
}

function hover(id, index) {
  if (state.hover?.id === id && state.hover.index === index) return;
  state.hover = id === null ? null : { id, index };
  render();
}

document.addEventListener("pointermove", (event) => {
  const element = event.target.closest?.("svg[data-chart]");
  if (!element) return void (state.hover && !document.activeElement?.dataset?.chart && hover(null));
  const x = event.clientX - element.getBoundingClientRect().left, places = state.charts[element.dataset.chart]?.x ?? [];
  const nearest = places.reduce((best, place, index) => (Math.abs(place - x) < Math.abs(places[best] - x) ? index : best), 0);
  return hover(element.dataset.chart, nearest);
});

document.addEventListener("keydown", (event) => {
  const id = document.activeElement?.dataset?.chart, places = id && state.charts[id]?.x;
  if (!places?.length) return;
  const now = state.hover?.id === id ? state.hover.index : places.length - 1;
  const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: places.length - 1 }[event.key];
  if (event.key === "Escape") hover(null);
  if (next === undefined) return;
  event.preventDefault();
  hover(id, Math.min(places.length - 1, Math.max(0, next)));
});

document.addEventListener("focusout", (event) => event.target.dataset?.chart && hover(null));

document.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-href]");
  if (row && !event.target.closest("a") && !String(getSelection())) location.hash = row.dataset.href;
});

document.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (name === "range") {
    state.range = Number(value);
    watch();
  } else if (name === "distribution" || name === "stack") {
    state[name] = value;
    render();
  }
});

const THEMES = { auto: "as the system", light: "light", dark: "dark" };
const system = matchMedia("(prefers-color-scheme: dark)");

function dress() {
  const chosen = localStorage.getItem("scalebox.theme") ?? "auto";
  document.documentElement.dataset.theme = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
  $("theme").setAttribute("aria-label", `Colours: ${THEMES[chosen] ?? "as the system"}`);
  $("theme").title = $("theme").getAttribute("aria-label");
}

system.addEventListener("change", dress);
$("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES), now = names.indexOf(localStorage.getItem("scalebox.theme") ?? "auto");
  localStorage.setItem("scalebox.theme", names[(now + 1) % names.length]);
  dress();
});

$("login").addEventListener("cancel", (event) => event.preventDefault());
$("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = $("token").value.trim();
  if (!/^[\x21-\x7e]+$/.test(given)) return void ($("login-error").textContent = "A token has no spaces and no accents.");
  sessionStorage.setItem("scalebox.token", given);
  $("token").value = "";
  $("login").close();
  return start();
});
$("leave").addEventListener("click", () => {
  sessionStorage.removeItem("scalebox.token");
  location.reload();
});

addEventListener("hashchange", () => {
  state.problem = null;
  state.hover = null;
  render();
  load();
  $("case")?.scrollIntoView({ block: "nearest" });
  if (!$("case")) scrollTo(0, 0);
  $("main").focus({ preventScroll: true });
});
// A page that is left may be kept for going back; its stream would take up one of the browser's few connections.
addEventListener("pagehide", () => {
  state.watch += 1;
  state.stop?.abort();
});
addEventListener("pageshow", (event) => event.persisted && start());
addEventListener("resize", () => requestAnimationFrame(render));

dress();
start();
