// Numbers, times and names as people read them.

// From the bottom of the stack to its top: right, wrong, crashed, over a limit, forbidden, in doubt.
export const VERDICTS = ["passed", "output_mismatch", "assert_fail", "runtime_error", "compile_error", "time_out",
  "memory_exceed", "output_exceed", "resource_denied", "not_run", "unknown", "internal_error"];

export const count = (value) => value.toLocaleString("en");
export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const plural = (value, noun, many = `${noun}s`) => `${count(value)} ${value === 1 ? noun : many}`;

export function digits(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
}

export function time(seconds) {
  if (seconds === null || seconds === undefined) return ["–", ""];
  if (seconds === 0) return ["0", "s"];
  if (seconds < 0.000995) return [digits(seconds * 1e6), "µs"];
  if (seconds < 0.995) return [digits(seconds * 1e3), "ms"];
  return seconds < 120 ? [digits(seconds), "s"] : seconds < 7200 ? [digits(seconds / 60), "min"] : [digits(seconds / 3600), "h"];
}

export const said = (seconds) => time(seconds).join("\u202f").trim();

export function percent(share) {
  if (share === null || !Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${value === 0 || value === 100 ? value : value < 0.1 ? "<0.1" : value.toFixed(value < 10 || (value > 99 && value < 100) ? 1 : 0)}\u202f%`;
}

export function bytes(value) {
  const unit = ["B", "KiB", "MiB", "GiB"][Math.min(3, Math.floor(Math.log2(Math.max(value, 1)) / 10))];
  return `${digits(value / 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit))}\u202f${unit}`;
}

export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
export const words = (name) => name.replaceAll("_", " ");
export const short = (id) => (id.length > 14 ? `${id.slice(0, 12)}…` : id);
