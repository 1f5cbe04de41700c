// Loaded before the program. SCALEBOX is {name: of the function that the program's text calls before its tests and
// behind them, with what they judge by and the functions that they declare, holds: whether they alter nothing of the
// language, thens: whether they put functions behind promises}.
(() => {
  const {apply, is, ownKeys, defineProperty, restore, say, stop} = GUARD;
  const fs = require("fs"), {format} = require("util"), modules = require("module"), assert = require("assert");
  const {freeze, getOwnPropertyDescriptor} = Object, own = process, consoleError = console.error, program = process.argv[1];
  const {on, removeAllListeners, reallyExit, exit} = process, {readFileSync} = fs;
  const {toString} = Function.prototype, {includes} = String.prototype;
  const loads = [[modules, "_load", modules._load], [modules.prototype, "require", modules.prototype.require]];
  const {listeners, hasUncaughtExceptionCaptureCallback} = process;
  const {then} = Promise.prototype;
  let began = false, ended = false, failed = false, tests = "";
  // Functions of the tests that wait, and what they have put behind promises: entered, and not left yet.
  let open = 0;

  // What a failed console.assert does in node is to print.
  console.assert = function assert(value, ...rest) {
    if (value) return;
    failed = true;
    if (typeof rest[0] === "string") rest[0] = `Assertion failed: ${rest[0]}`;
    else rest.unshift("Assertion failed");
    apply(consoleError, console, rest);
  };
  // A promise that is never settled keeps nobody waiting: what the tests have put behind it would not be missed.
  const {then: ours} = {
    then(fulfilled, rejected) {
      if (!of(fulfilled) && !of(rejected)) return apply(then, this, [fulfilled, rejected]);
      open++;
      let left = false;
      const leaving = (f, otherwise) => (value) => {
        if (!left) open--;
        left = true;
        return typeof f === "function" ? f(value) : otherwise(value);
      };
      return apply(then, this, [leaving(fulfilled, (value) => value), leaving(rejected, (error) => { throw error; })]);
    },
  };
  const of = (f) => began && typeof f === "function" && apply(includes, tests, [apply(toString, f, [])]);
  if (SCALEBOX.thens) defineProperty(Promise.prototype, "then", {value: ours});
  GUARD.keep();
  const globals = {};
  for (const key of ownKeys(globalThis)) {
    const found = getOwnPropertyDescriptor(globalThis, key);
    if (typeof key === "string" && "value" in found) globals[key] = found.value;
  }
  globals.console = console;
  globals.process = process;

  const fatal = (error) => {
    say(format(error));
    apply(reallyExit, own, [1]);
  };
  const KINDS = ["uncaughtException", "unhandledRejection"];

  // See that what the tests judge by is what it is everywhere, and that loading a module is what it was.
  function look(names, functions) {
    for (let at = 0; at < loads.length; at++) {
      if (loads[at][0][loads[at][1]] !== loads[at][2]) stop("the program altered require");
    }
    for (const name of ownKeys(names)) {
      if (began && !SCALEBOX.holds && name !== "require") continue; // the tests themselves may have replaced it
      if (name === "require") {
        if (names.require("assert") !== assert) stop("the program altered require");
      } else if (!is(names[name], name in globals ? globals[name] : globalThis[name])) {
        stop(`the program has a ${name} of its own, which the tests use`);
      }
    }
    for (let at = 0; at < functions.length; at++) {
      if (typeof functions[at] !== "function" || !apply(includes, tests, [apply(toString, functions[at], [])])) {
        stop("the program took the place of a function of the tests");
      }
    }
  }

  // From now on these are no other: put back by the program in time, a change would not show at the end.
  function hold(names) {
    GUARD.hold();
    for (let at = 0; at < loads.length; at++) {
      defineProperty(loads[at][0], loads[at][1], {value: loads[at][2], writable: false, configurable: false});
    }
    for (const name of ownKeys(names)) {
      const found = getOwnPropertyDescriptor(globalThis, name);
      if (!found || !found.configurable) continue;
      defineProperty(globalThis, name, {value: names[name], writable: false, configurable: false});
    }
  }

  // Put back what was altered, and see that the names by which the tests judge are what they are everywhere.
  function begin(names, functions) {
    restore();
    const source = apply(readFileSync, fs, [program, "utf8"]);
    tests = source.slice(source.indexOf(SCALEBOX.name));
    look(names, functions);
    began = true;
    if (SCALEBOX.holds) hold(names);
    freeze(console.assert);
    defineProperty(console, "assert", {value: console.assert, writable: false, configurable: false});
    for (const kind of ["uncaughtException", "unhandledRejection", "beforeExit", "exit"]) {
      apply(removeAllListeners, own, [kind]);
    }
    for (const kind of KINDS) apply(on, own, [kind, fatal]);
    apply(on, own, ["beforeExit", send]);
  }

  function send() {
    const what = GUARD.altered();
    if (what) stop(`the program altered ${what} while it was tested`);
    if (failed) own.exitCode = own.exitCode || 1;
    const heard = KINDS.every((kind) => apply(listeners, own, [kind])[0] === fatal);
    if (began && (!heard || apply(hasUncaughtExceptionCaptureCallback, own, []))) stop("the program catches the tests' errors");
    if (open > 0) stop("the tests wait for what never comes");
    if (!failed && began && ended && !own.exitCode) GUARD.send("");
  }

  // Where the tests themselves call process.exit: whatever of them has not ended then is not to.
  function leave(status) {
    if (began && !(status === undefined ? own.exitCode : +status)) {
      ended = true;
      open = 0;
      send();
    }
    apply(exit, own, [status]);
  }

  const called = (names, functions) => {
    if (ended) stop("the tests ended twice");
    if (!began) return begin(names, functions);
    look(names, functions);
    ended = true;
  };
  called.enter = () => { open++; };
  called.leave = () => { open--; };
  called.exit = leave;
  defineProperty(globalThis, SCALEBOX.name, {value: freeze(called)});
})();
