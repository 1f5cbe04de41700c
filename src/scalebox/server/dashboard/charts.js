// Charts, drawn as SVG.

import { h } from "./drawing.js";
import { state } from "./state.js";
import { clock, digits, percent, plural, said, sum, time, VERDICTS, words } from "./words.js";

export const width = (id) => Math.max(120, state.widths[id] ?? 600);

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

export function stacked(series) {
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
export function histogram(id, distribution, { unit = said, noun = "sample", height = 236 } = {}) {
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

export function spark(id, series, values, tip, label, least = 0) {
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
export function strip(distribution) {
  const { counts } = distribution.count ? padded(distribution, 14) : { counts: [] }, most = Math.max(...counts, 1);
  return h("svg", { width: "100%", height: 28, "aria-hidden": "true" }, counts.map((value, index) => {
    const tall = value ? Math.max(1.5, 26 * value / most) : 0;
    return h("rect", { class: "bar-fill", x: `${100 * index / counts.length}%`, width: `${80 / counts.length}%`, y: 28 - tall, height: tall, rx: 1 });
  }));
}

export function bar(parts, total, label, height = 10) {
  let at = 0;
  const pieces = parts.filter(([, value]) => value > 0).map(([name, value]) => {
    const piece = h("rect", { class: `fill ${name}`, x: `${100 * at / total}%`, width: `${Math.max(0.4, 100 * value / total)}%`, height });
    at += value;
    return piece;
  });
  return h("svg", { width: "100%", height, role: "img", "aria-label": label }, h("rect", { class: "track", width: "100%", height, rx: 3 }), pieces);
}

export const verdictBar = (verdicts, total, height) => bar(VERDICTS.map((verdict) => [`v-${verdict}`, verdicts[verdict] ?? 0]), Math.max(total, 1),
  VERDICTS.filter((verdict) => verdicts[verdict]).map((verdict) => `${words(verdict)} ${verdicts[verdict]}`).join(", ") || "no results yet", height);

export const emptiness = (title, text) => h("p", { class: "empty" }, h("b", null, title), text);
