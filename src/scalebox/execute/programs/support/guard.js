"use strict";
// What judges, as it was before the program: functions of the language and of node, and the globals. Loaded first.
const GUARD = (() => {
  const fs = require("fs"), assert = require("assert"), util = require("util");
  const {defineProperty, getOwnPropertyDescriptor, getPrototypeOf, is} = Object;
  const {apply, ownKeys} = Reflect;
  const own = process, writeSync = fs.writeSync, readSync = fs.readSync, reallyExit = process.reallyExit;
  const includes = Array.prototype.includes, text = String;
  const {concat, from} = Buffer, {stringify} = JSON, {hasOwn} = Object;
  const token = Buffer.alloc(16);
  const size = readSync(3, token);
  let sent = false;

  const owners = [
    console, assert, assert.strict, Math, JSON, Object, Array, Number, String, Boolean, Reflect, RegExp, Promise, BigInt,
    Symbol, Date, Error, Object.prototype, Function.prototype, Array.prototype, String.prototype, Number.prototype,
    Boolean.prototype, RegExp.prototype, Map.prototype, Set.prototype, Promise.prototype, Error.prototype,
    getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(new Map().entries()), getPrototypeOf(new Set().values()),
    BigInt.prototype, WeakMap.prototype, WeakSet.prototype, Date.prototype, Buffer, util, fs, own,
  ];
  // Nobody's own functions lie over these by an assignment, as they do over those of Object.prototype.
  const judging = [
    assert, assert.strict, Math, JSON, Object, Array, Number, String, Boolean, Reflect, Promise, BigInt, Symbol, util,
    Array.prototype, String.prototype, Number.prototype, Boolean.prototype, RegExp.prototype, Map.prototype,
    Set.prototype, WeakMap.prototype, WeakSet.prototype, Promise.prototype, BigInt.prototype, Date.prototype, Date,
    getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(new Map().entries()), getPrototypeOf(new Set().values()),
  ];
  const shaped = [Object, Function, Array, Number, String, Boolean, BigInt, Map, Set, RegExp, Error];
  const prototypes = shaped.map((kind) => kind.prototype);
  // Printing judges nothing, and these may be replaced by honest programs; chdir is by node's own runner of tests.
  const spared = ["exit", "chdir", "emit", "log", "error", "warn", "info", "debug", "prepareStackTrace", "captureStackTrace"];
  const kept = [];
  const standard = [
    "Object", "Function", "Array", "Number", "String", "Boolean", "Symbol", "BigInt", "Math", "JSON", "Date", "RegExp",
    "Promise", "Map", "Set", "WeakMap", "WeakSet", "Reflect", "Proxy", "Intl", "Error", "TypeError", "RangeError",
    "SyntaxError", "ReferenceError", "isNaN", "isFinite", "parseInt", "parseFloat", "setTimeout", "setInterval",
    "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask", "structuredClone",
  ].map((name) => [name, getOwnPropertyDescriptor(globalThis, name)]);

  // To be called once, when nothing of ours is to be replaced any more and nothing of the program has run.
  function keep() {
    for (const owner of owners) {
      for (const key of ownKeys(owner)) {
        const found = getOwnPropertyDescriptor(owner, key);
        if (typeof found.value === "function" || found.get) kept.push([owner, key, found]);
      }
    }
  }

  function altered() {
    for (let at = 0; at < kept.length; at++) {
      const [owner, key, was] = kept[at];
      const now = getOwnPropertyDescriptor(owner, key);
      if ((!now || now.value !== was.value || now.get !== was.get) && !apply(includes, spared, [key])) return text(key);
    }
    return "";
  }

  function restore() {
    for (let at = 0; at < kept.length; at++) {
      try {
        defineProperty(kept[at][0], kept[at][1], kept[at][2]);
      } catch {
        stop(`the program altered ${text(kept[at][1])}`);
      }
    }
  }

  // What judges stays what it is from now on: put back by the program in time, a change would not show at the end.
  function hold() {
    for (let at = 0; at < kept.length; at++) {
      const [owner, key, was] = kept[at];
      if (!apply(includes, judging, [owner]) || !was.configurable) continue;
      const fixed = was.get ? {configurable: false} : {configurable: false, writable: false};
      defineProperty(owner, key, fixed);
      kept[at][2] = getOwnPropertyDescriptor(owner, key);
    }
  }

  // The names of the language mean what they meant, for good.
  function restoreNames() {
    for (let at = 0; at < standard.length; at++) {
      const [name, was] = standard[at];
      const now = getOwnPropertyDescriptor(globalThis, name);
      if (now && !now.configurable && now.value === was.value) continue;
      try {
        defineProperty(globalThis, name, was);
        defineProperty(globalThis, name, was.get ? {configurable: false} : {configurable: false, writable: false});
      } catch {
        stop(`the program altered ${name}`);
      }
    }
  }

  // How values of the language itself are written is not for the program to say. For Date it is the language's own.
  JSON.stringify = function stringify_(...all) {
    for (let at = 0; at < prototypes.length; at++) {
      if (hasOwn(prototypes[at], "toJSON")) stop("the program altered how values are written as JSON");
    }
    return apply(stringify, JSON, all);
  };
  defineProperty(JSON.stringify, "name", {value: "stringify"});
  defineProperty(JSON.stringify, "length", {value: 3});

  function say(words) {
    apply(writeSync, fs, [2, `${words}\n`]);
  }

  function stop(why) {
    say(why);
    apply(reallyExit, own, [1]);
  }

  // Send the token back, once, with what is to be told besides; not where something that judges has been altered.
  function send(more) {
    const what = altered();
    if (what) stop(`the program altered ${what} while it was tested`);
    if (sent) return;
    sent = true;
    const data = apply(concat, Buffer, [[token.subarray(0, size), apply(from, Buffer, [more])]]);
    for (let at = 0; at < data.length;) at += apply(writeSync, fs, [3, data, at]);
  }

  return {keep, altered, restore, restoreNames, hold, say, stop, send, apply, is, ownKeys, defineProperty};
})();
