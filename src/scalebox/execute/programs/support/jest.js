// A runner of jest-like suites: node jest.js. SCALEBOX is {suites: names of test modules, holds: whether they
// alter nothing of the language}. What became of each test
// leaves with the token, as [[suite, full name, status, detail], ...] in JSON.
(() => {
  const {apply, is, ownKeys, say, stop} = GUARD;
  const path = require("path"), util = require("util"), modules = require("module");
  const {isArray} = Array, {freeze, keys, getPrototypeOf} = Object, {stringify} = JSON, own = process;
  const {setTimeout, clearTimeout} = globalThis, {hasOwnProperty, toString} = Object.prototype;
  const has = (value, key) => apply(hasOwnProperty, value, [key]);
  const TEST_MS = 5000, DETAIL = 500;

  class Failed extends Error {}
  // What this runner does not have; `word` is what a suite would have to say to ask for it.
  class Unsupported extends Error {
    constructor(message, word) {
      super(message);
      this.word = word;
    }
  }
  const asymmetric = new WeakMap();
  const mocks = new WeakMap();
  const shown = (value) => {
    try {
      return util.inspect(value, {depth: 4, breakLength: Infinity, maxArrayLength: 50, maxStringLength: 300}).slice(0, 300);
    } catch {
      return "(cannot be shown)";
    }
  };

  // -- equality ---------------------------------------------------------------------------------------------------

  function equal(a, b, strict, seen = []) {
    if (typeof b === "object" && b !== null && asymmetric.has(b)) return asymmetric.get(b)(a);
    if (is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    const kind = apply(toString, a, []);
    if (kind !== apply(toString, b, [])) return false;
    if (strict && getPrototypeOf(a) !== getPrototypeOf(b)) return false;
    if (isArray(a) !== isArray(b)) return false;
    for (const [left, right] of seen) if (left === a && right === b) return true;
    const inner = [...seen, [a, b]];
    const same = (x, y) => equal(x, y, strict, inner);
    if (a instanceof Date) return is(+a, +b);
    if (a instanceof RegExp) return a.source === b.source && a.flags === b.flags;
    if (a instanceof Error) return a.message === b.message && a.name === b.name;
    if (a instanceof Number || a instanceof String || a instanceof Boolean) return is(a.valueOf(), b.valueOf());
    if (a instanceof Map) {
      if (!(b instanceof Map) || a.size !== b.size) return false;
      return [...a].every(([key, value]) => b.has(key) ? same(value, b.get(key)) :
        [...b].some(([other, its]) => same(key, other) && same(value, its)));
    }
    if (a instanceof Set) {
      return b instanceof Set && a.size === b.size && [...a].every((one) => b.has(one) || [...b].some((other) => same(one, other)));
    }
    if (isArray(a) || ArrayBuffer.isView(a)) {
      if (a.length !== b.length) return false;
      for (let at = 0; at < a.length; at++) {
        if (strict && (at in a) !== (at in b)) return false;
        if (!same(a[at], b[at])) return false;
      }
      if (ArrayBuffer.isView(a)) return true;
    }
    const enumerable = (value) => ownKeys(value).filter((key) => Object.getOwnPropertyDescriptor(value, key)?.enumerable);
    const left = enumerable(a), right = enumerable(b);
    if (strict && left.length !== right.length) return false;
    return left.every((key) => has(b, key) ? same(a[key], b[key]) : !strict && a[key] === undefined) &&
      right.every((key) => has(a, key) || (!strict && b[key] === undefined));
  }

  function contains(value, part, seen = 0) {
    if (typeof part !== "object" || part === null || asymmetric.has(part) || seen > 100) return equal(value, part, false);
    if (typeof value !== "object" || value === null) return false;
    if (isArray(part)) {
      return isArray(value) && value.length === part.length && part.every((one, at) => contains(value[at], one, seen + 1));
    }
    if (part instanceof Date || part instanceof RegExp || part instanceof Map || part instanceof Set) return equal(value, part, false);
    return keys(part).every((key) => key in value && contains(value[key], part[key], seen + 1));
  }

  function matching(matches) {
    const made = freeze({});
    asymmetric.set(made, matches);
    return made;
  }

  function typed(kind, value) {
    const primitives = new Map([[String, "string"], [Number, "number"], [Boolean, "boolean"], [BigInt, "bigint"], [Symbol, "symbol"],
      [Function, "function"]]);
    if (primitives.has(kind) && typeof value === primitives.get(kind)) return true;
    return kind === Object ? typeof value === "object" && value !== null : value instanceof kind;
  }

  // -- expectations -----------------------------------------------------------------------------------------------

  const numbers = (compare) => (a, b) => {
    if (!["number", "bigint"].includes(typeof a)) throw new Failed(`${shown(a)} is no number`);
    return compare(a, b);
  };

  function thrown(f, wanted, none) {
    let error, raised = false;
    if (none === "rejected") [error, raised] = [f, true];
    else {
      if (typeof f !== "function") throw new Failed(`${shown(f)} is no function`);
      try { f(); } catch (caught) { [error, raised] = [caught, true]; }
    }
    if (!raised) return false;
    if (wanted === undefined) return true;
    const message = error !== null && typeof error === "object" && "message" in error ? String(error.message) : String(error);
    if (typeof wanted === "string") return message.includes(wanted);
    if (wanted instanceof RegExp) return wanted.test(message);
    if (typeof wanted === "function") return error instanceof wanted;
    if (asymmetric.has(wanted)) return asymmetric.get(wanted)(error);
    return message === wanted.message;
  }

  function property(value, where) {
    const names = isArray(where) ? where : String(where).replace(/\[(\w+)\]/g, ".$1").split(".");
    for (const name of names) {
      if (value === null || value === undefined || !(name in Object(value))) return [false, undefined];
      value = value[name];
    }
    return [true, value];
  }

  const calls = (f) => {
    if (!mocks.has(f)) throw new Failed(`${shown(f)} is no mock function`);
    return mocks.get(f).calls;
  };
  const MATCHERS = {
    toBe: (a, b) => is(a, b),
    toEqual: (a, b) => equal(a, b, false),
    toStrictEqual: (a, b) => equal(a, b, true),
    toBeTruthy: (a) => !!a,
    toBeFalsy: (a) => !a,
    toBeNull: (a) => a === null,
    toBeUndefined: (a) => a === undefined,
    toBeDefined: (a) => a !== undefined,
    toBeNaN: (a) => typeof a === "number" && a !== a,
    toBeGreaterThan: numbers((a, b) => a > b),
    toBeGreaterThanOrEqual: numbers((a, b) => a >= b),
    toBeLessThan: numbers((a, b) => a < b),
    toBeLessThanOrEqual: numbers((a, b) => a <= b),
    toBeCloseTo: numbers((a, b, digits = 2) => is(a, b) || Math.abs(a - b) < 10 ** -digits / 2),
    toBeInstanceOf: (a, kind) => a instanceof kind,
    toContain: (a, b) => typeof a === "string" ? a.includes(b) : [...a].some((one) => is(one, b)),
    toContainEqual: (a, b) => [...a].some((one) => equal(one, b, false)),
    toHaveLength: (a, b) => a.length === b,
    toHaveProperty: (a, where, ...value) => {
      const [found, its] = property(a, where);
      return found && (!value.length || equal(its, value[0], false));
    },
    toMatch: (a, b) => {
      if (typeof a !== "string") throw new Failed(`${shown(a)} is no string`);
      return typeof b === "string" ? a.includes(b) : b.test(a);
    },
    toMatchObject: (a, b) => contains(a, b),
    toThrow: thrown,
    toThrowError: thrown,
    toHaveBeenCalled: (f) => calls(f).length > 0,
    toHaveBeenCalledTimes: (f, count) => calls(f).length === count,
    toHaveBeenCalledWith: (f, ...all) => calls(f).some((one) => equal(one, all, false)),
    toHaveBeenLastCalledWith: (f, ...all) => calls(f).length > 0 && equal(calls(f).at(-1), all, false),
  };

  let counted = 0, demanded = null;
  const withoutMatcher = {
    get(target, name) {
      if (has(target, name) || typeof name === "symbol") return target[name];
      throw new Unsupported(`expect(…).${name} is not supported`, name);
    },
  };

  function expectations(value, negated, how) {
    const found = {};
    for (const name of keys(MATCHERS)) {
      const check = (it, all) => {
        counted++;
        if (MATCHERS[name](it, ...all, ...(how === "rejects" && name.startsWith("toThrow") ? [...(all.length ? [] : [undefined]), "rejected"] : [])) === negated) {
          throw new Failed(`expect(${shown(it)})${negated ? ".not" : ""}.${name}(${all.map(shown).join(", ")})`);
        }
      };
      found[name] = !how ? (...all) => check(value, all) : async (...all) => {
        const settled = typeof value === "function" ? value() : value;
        let it, rejected = false;
        try { it = await settled; } catch (error) { [it, rejected] = [error, true]; }
        if (rejected !== (how === "rejects")) throw new Failed(`the promise was ${rejected ? "rejected" : "resolved"}: ${shown(it)}`);
        check(it, all);
      };
    }
    if (!negated) {
      found.not = new Proxy(expectations(value, true, how), withoutMatcher);
      if (!how) {
        found.resolves = new Proxy(expectations(value, false, "resolves"), withoutMatcher);
        found.rejects = new Proxy(expectations(value, false, "rejects"), withoutMatcher);
      }
    }
    return found;
  }

  // A function with members, of which those that begin in a certain way are ours alone.
  const guarded = (made, what, ours) => new Proxy(made, {
    get(target, name) {
      if (typeof name === "string" && !(name in target) && ours.test(name)) throw new Unsupported(`${what}.${name} is not supported`, name);
      return target[name];
    },
  });

  const bare = (value) => new Proxy(expectations(value, false, ""), withoutMatcher);
  const expect = guarded(bare, "expect", /^(?!then$|toJSON$)/);
  bare.anything = () => matching((a) => a !== null && a !== undefined);
  bare.any = (kind) => matching((a) => typed(kind, a));
  bare.closeTo = (b, digits = 2) => matching((a) => typeof a === "number" && MATCHERS.toBeCloseTo(a, b, digits));
  bare.arrayContaining = (all) => matching((a) => isArray(a) && all.every((b) => a.some((one) => equal(one, b, false))));
  bare.objectContaining = (part) => matching((a) => typeof a === "object" && a !== null && keys(part).every((key) => key in a && equal(a[key], part[key], false)));
  bare.stringContaining = (part) => matching((a) => typeof a === "string" && a.includes(part));
  bare.stringMatching = (part) => matching((a) => typeof a === "string" && new RegExp(part).test(a));
  bare.assertions = (count) => { demanded = (made) => made === count; };
  bare.hasAssertions = () => { demanded = (made) => made > 0; };

  function fn(does) {
    const mock = {calls: [], results: []};
    let always = does;
    const once = [];
    const made = function (...all) {
      mock.calls.push(all);
      const next = once.length ? once.shift() : always;
      const value = next ? apply(next, this, all) : undefined;
      mock.results.push({type: "return", value});
      return value;
    };
    const shownMade = guarded(made, "jest.fn()", /^mock/);
    mocks.set(shownMade, mock);
    made.mock = mock;
    made.mockImplementation = (f) => { always = f; return shownMade; };
    made.mockImplementationOnce = (f) => { once.push(f); return shownMade; };
    made.mockReturnValue = (value) => made.mockImplementation(() => value);
    made.mockReturnValueOnce = (value) => made.mockImplementationOnce(() => value);
    made.mockReturnThis = () => made.mockImplementation(function () { return this; });
    made.mockResolvedValue = (value) => made.mockImplementation(async () => value);
    made.mockResolvedValueOnce = (value) => made.mockImplementationOnce(async () => value);
    made.mockRejectedValue = (value) => made.mockImplementation(async () => { throw value; });
    made.mockRejectedValueOnce = (value) => made.mockImplementationOnce(async () => { throw value; });
    made.mockClear = () => { mock.calls.length = mock.results.length = 0; return shownMade; };
    made.mockReset = () => { always = undefined; once.length = 0; return made.mockClear(); };
    return shownMade;
  }
  const jest = new Proxy(freeze({fn, setTimeout: () => jest}), {
    get(target, name) {
      if (has(target, name)) return target[name];
      throw new Unsupported(`jest.${String(name)} is not supported`, String(name));
    },
  });

  // -- suites -----------------------------------------------------------------------------------------------------

  let block = null;
  const tests = [];
  const newBlock = (name, outer, mode) => ({name, outer, mode, before: [], after: [], each: [], behind: [], left: 0, begun: false});

  // As jest writes a value into a name: what lies in what it holds is not shown.
  function pretty(value, inner = false) {
    if (typeof value === "string") return `"${value}"`;
    if (typeof value !== "object" || value === null) return shown(value);
    if (isArray(value)) return inner ? "[Array]" : `[${value.map((one) => pretty(one, true)).join(", ")}]`;
    if (getPrototypeOf(value) !== Object.prototype) return shown(value);
    return inner ? "[Object]" : `{${keys(value).sort().map((key) => `"${key}": ${pretty(value[key], true)}`).join(", ")}}`;
  }

  function titled(name, row, at) {
    const values = isArray(row) ? [...row] : [row];
    if (!isArray(row) && typeof row === "object" && row !== null) {
      name = name.replace(/\$([\w.]+)/g, (all, where) => { const [found, its] = property(row, where); return found ? (typeof its === "string" ? its : pretty(its)) : all; });
    }
    return name.replace(/%([sdifjopO#%])/g, (all, kind) => {
      if (kind === "%") return "%";
      if (kind === "#") return String(at);
      if (!values.length) return all;
      const value = values.shift();
      return kind === "p" ? pretty(value) : kind === "j" ? stringify(value) : util.format(`%${kind}`, value);
    });
  }

  function declaring(declare) {
    const made = (mode) => {
      const one = (name, f, ms) => declare(typeof name === "function" ? name.name : String(name), f, mode, ms);
      one.each = (table) => {
        if (table?.raw) throw new Unsupported("each with a template is not supported", "each");
        return (name, f, ms) => table.forEach((row, at) => declare(titled(String(name), row, at), (...more) => f(...(isArray(row) ? row : [row]), ...more), mode, ms));
      };
      return one;
    };
    const found = made("");
    found.skip = made("skip");
    found.only = made("only");
    return found;
  }

  const describe = declaring((name, f, mode) => {
    const outer = block;
    block = newBlock(name, outer, mode);
    try { f(); } finally { block = outer; }
  });
  const test = declaring((name, f, mode, ms) => {
    if (!block) throw new Error("a test was declared while tests ran");
    tests.push({name, f, mode, ms, block, suite});
  });
  test.todo = (name) => test.skip(name, () => {});
  for (const name of ["failing", "concurrent"]) {
    test[name] = () => { throw new Unsupported(`test.${name} is not supported`, name); };
    test[name].each = test[name].only = test[name].skip = test[name];
  }
  const hook = (kind) => (f) => { block[kind].push(f); };
  const api = {
    describe, test, it: test, expect, jest, xdescribe: describe.skip, xit: test.skip, xtest: test.skip, fdescribe: describe.only,
    fit: test.only, beforeAll: hook("before"), afterAll: hook("after"), beforeEach: hook("each"), afterEach: hook("behind"),
  };
  for (const name of keys(api)) {
    if (name !== "jest") freeze(name === "expect" ? bare : api[name]);
    Object.defineProperty(globalThis, name, {value: api[name], writable: false, configurable: false});
  }
  freeze(api);

  const load = modules._load;
  modules._load = function (request, ...rest) {
    if (request === "@jest/globals" || request === "vitest") return api;
    return apply(load, this, [/^\.\.?\//.test(request) ? request.replace(/\.[mc]?tsx?$/, "") : request, ...rest]);
  };
  GUARD.keep();
  // Who loads a library while a test runs gets that library.
  for (const [owner, name] of [[modules, "_load"], [modules.prototype, "require"]]) {
    Object.defineProperty(owner, name, {value: owner[name], writable: false, configurable: false});
  }

  const lineage = (one) => one ? [...lineage(one.outer), one] : [];
  const ended = [];
  let suite = "", unsupported = "", word = "";

  function tell(one, status, detail = "") {
    const full = [...lineage(one.block).slice(1).map((outer) => outer.name), one.name].join(" ");
    ended.push([one.suite, full, status, String(detail).slice(0, DETAIL)]);
  }

  function cause(error) {
    if (error instanceof Unsupported && !unsupported) ({message: unsupported, word} = error);
    if (error instanceof Failed) return ["failed", error.message];
    let words;
    try { words = error instanceof Error ? `${error.name}: ${error.message}` : shown(error); } catch { words = "an error that cannot be shown"; }
    return [error?.code === "ERR_ASSERTION" ? "failed" : "error", words];
  }

  function within(f, ms) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Failed(`took longer than ${ms} ms`)), ms);
      const settle = (f) => (value) => { clearTimeout(timer); f(value); };
      try {
        const wants = f.length > 0 ? f((error) => error ? settle(fail)(error) : settle(done)()) : f();
        if (f.length === 0 || (wants && typeof wants.then === "function")) Promise.resolve(wants).then(settle(done), settle(fail));
      } catch (error) {
        settle(fail)(error);
      }
    });
  }

  async function runOne(one) {
    const blocks = lineage(one.block);
    for (const outer of blocks) {
      if (!outer.begun) {
        outer.begun = true;
        for (const f of outer.before) await within(f, TEST_MS);
      }
    }
    [counted, demanded] = [0, null];
    try {
      for (const outer of blocks) for (const f of outer.each) await within(f, TEST_MS);
      await within(one.f, one.ms ?? TEST_MS);
      if (demanded && !demanded(counted)) throw new Failed(`${counted} assertions were made`);
    } finally {
      for (const outer of [...blocks].reverse()) for (const f of outer.behind) await within(f, TEST_MS);
    }
  }

  async function main() {
    for (const name of SCALEBOX.suites) {
      suite = name;
      const root = block = newBlock("", null, "");
      const first = tests.length;
      try {
        require(path.join(__dirname, name.replace(/\.[mc]?tsx?$/, ".js")));
      } catch (error) {
        tests.length = first;
        const [, words] = cause(error);
        ended.push([name, "", "error", words.slice(0, DETAIL)]);
        say(util.format(error));
      }
      block = null;
      GUARD.restore();
      if (SCALEBOX.holds) {
        GUARD.restoreNames();
        GUARD.hold();
      }
      const mine = tests.slice(first), only = mine.some((one) => one.mode === "only" || lineage(one.block).some((outer) => outer.mode === "only"));
      for (const one of mine) {
        const modes = [one.mode, ...lineage(one.block).map((outer) => outer.mode)];
        if (modes.includes("skip") || (only && !modes.includes("only"))) {
          tell(one, "skipped", "it was skipped");
          continue;
        }
        try {
          await runOne(one);
          tell(one, "passed");
        } catch (error) {
          tell(one, ...cause(error));
        }
      }
      const blocks = new Set(mine.flatMap((one) => lineage(one.block)).concat(root));
      for (const outer of blocks) for (const f of outer.begun ? outer.after : []) await within(f, TEST_MS);
    }
    GUARD.send(stringify({ended, unsupported, word}));
  }
  for (const kind of ["uncaughtException", "unhandledRejection"]) {
    own.on(kind, (error) => stop(util.format(error)));
  }
  main().then(() => apply(own.reallyExit, own, [0]), (error) => stop(util.format(error)));
})();
