// The pages: all samples, a batch, a sample and its cases.

import { bar, emptiness, histogram, spark, stacked, strip, verdictBar } from "./charts.js";
import { h } from "./drawing.js";
import { state } from "./state.js";
import { bytes, clock, count, digits, percent, plural, said, short, sum, time, VERDICTS, words } from "./words.js";

const DISTRIBUTIONS = { work: "Verifying", waiting: "Waiting", cases: "Cases" };
export const PAGE = 100;
const MOST_CASES = 500;

// --- pieces ----------------------------------------------------------------------------------------------------------

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

export function overviewPage(seen) {
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
  if (!distribution.count) return emptiness("No trajectories", "Samples carry theirs in trajectory.");
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

export const crumbs = (...steps) => h("nav", { "aria-label": "Where you are" }, h("ol", { class: "crumbs" }, [["Overview", "#/"], ...steps].map(([text, href]) => h("li", null, href ? h("a", { href }, text) : h("span", { "aria-current": "page" }, text)))));
const batchLink = (id, query = "") => `#/batch/${encodeURIComponent(id)}${query}`;

export function batchPage(route, detail) {
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

export function samplePage(route, { view, result }) {
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
