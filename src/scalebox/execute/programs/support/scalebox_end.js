// Loaded before the program. SCALEBOX is {name: of the function that the program's text calls before its tests and
// behind them, exits: whether the tests themselves call process.exit, holds: whether they alter nothing of the language}.
(() => {
  const {apply, is, ownKeys, defineProperty, restore, say, stop} = GUARD;
  const fs = require("fs"), {format} = require("util"), modules = require("module"), assert = require("assert");
  const {freeze} = Object, own = process, consoleError = console.error, program = process.argv[1];
  const {on, removeAllListeners, reallyExit} = process, {readFileSync} = fs;
  const {toString} = Function.prototype, {includes} = String.prototype;
  const load = modules._load, moduleRequire = modules.prototype.require;
  let began = false, ended = false, failed = false;

  // What a failed console.assert does in node is to print.
  console.assert = function assert(value, ...rest) {
    if (value) return;
    failed = true;
    if (typeof rest[0] === "string") rest[0] = `Assertion failed: ${rest[0]}`;
    else rest.unshift("Assertion failed");
    apply(consoleError, console, rest);
  };
  GUARD.keep();
  const globals = {};
  for (const key of ownKeys(globalThis)) {
    const found = Object.getOwnPropertyDescriptor(globalThis, key);
    if (typeof key === "string" && "value" in found) globals[key] = found.value;
  }
  globals.console = console;
  globals.process = process;

  // Put back what was altered, and see that the names by which the tests judge are what they are everywhere.
  function begin(names, functions) {
    if (began) stop("the tests began twice");
    began = true;
    restore();
    for (const name of ownKeys(names)) {
      if (name === "require") {
        const same = modules._load === load && modules.prototype.require === moduleRequire;
        if (!same || names.require("assert") !== assert) stop("the program altered require");
      } else if (!is(names[name], name in globals ? globals[name] : globalThis[name])) {
        stop(`the program has a ${name} of its own, which the tests use`);
      }
    }
    const source = apply(readFileSync, fs, [program, "utf8"]);
    const tests = source.slice(source.indexOf(SCALEBOX.name));
    for (let at = 0; at < functions.length; at++) {
      if (typeof functions[at] !== "function" || !apply(includes, tests, [apply(toString, functions[at], [])])) {
        stop("the program took the place of a function of the tests");
      }
    }
    if (SCALEBOX.holds) GUARD.hold();
    freeze(console.assert);
    defineProperty(console, "assert", {value: console.assert, writable: false, configurable: false});
    for (const kind of ["uncaughtException", "unhandledRejection", "beforeExit", "exit"]) {
      apply(removeAllListeners, own, [kind]);
    }
    for (const kind of ["uncaughtException", "unhandledRejection"]) {
      apply(on, own, [kind, (error) => {
        say(format(error));
        apply(reallyExit, own, [1]);
      }]);
    }
    apply(on, own, ["beforeExit", send]);
    if (SCALEBOX.exits) apply(on, own, ["exit", (status) => { if (!status) { ended = true; send(); } }]);
  }

  function send() {
    const what = GUARD.altered();
    if (what) stop(`the program altered ${what} while it was tested`);
    if (failed) own.exitCode = own.exitCode || 1;
    if (!failed && began && ended && !own.exitCode) GUARD.send("");
  }

  defineProperty(globalThis, SCALEBOX.name, {
    value: (names, functions) => {
      if (names) begin(names, functions);
      else ended = began;
    },
  });
})();
