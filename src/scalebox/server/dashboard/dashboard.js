// The dashboard: one stream of overviews, a page for each batch and sample, drawn anew at every change.
// Whatever comes from the server is put in as text, never as markup: programs and ids are somebody else's.

import { emptiness, width } from "./charts.js";
import { h, morphKids } from "./drawing.js";
import { batchPage, crumbs, overviewPage, PAGE, samplePage } from "./pages.js";
import { state } from "./state.js";
import { said, words } from "./words.js";

const RULES = {
  verdict_surge: "A verdict surges", tail_growth: "The tail grows", unknown_rise: "Unknowns rise",
  throughput_fall: "Throughput falls", interception_fall: "Interception falls", quarantine: "A sample is quarantined",
};
const SILENCE_MS = 15000;

const $ = (id) => document.getElementById(id);

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
