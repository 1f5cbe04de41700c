// What makes a JavaScript program of functions answer one call: arguments in, the value out. See execute/drivers.
"use strict";
const fs = require("fs"), path = require("path"), Module = require("module");
const VALUE = 0, TOO_LARGE = 3, UNFIT = 4, MOST = 16 << 20;
// Before any code of the program: what it reads from its standard input is then empty.
const input = fs.readFileSync(0);
const {call, parameters, returned} = require("./scalebox_calls.json")[input.readUInt32LE(4)];

class Unfit extends Error {}
class TooLarge extends Error {}

// LeetCode's nodes, for programs that have none of their own.
globalThis.ListNode = class ListNode {
  constructor(val, next) {
    this.val = val === undefined ? 0 : val;
    this.next = next === undefined ? null : next;
  }
};
globalThis.TreeNode = class TreeNode {
  constructor(val, left, right) {
    this.val = val === undefined ? 0 : val;
    this.left = left === undefined ? null : left;
    this.right = right === undefined ? null : right;
  }
};

// -- values in: null, boolean, BigInt, number (a float), string, Array, Set, Pairs ---------------------------------

class Pairs extends Array {}

let at = 8;
function count() {
  at += 4;
  return input.readUInt32LE(at - 4);
}
function take(size) {
  at += size;
  return input.subarray(at - size, at);
}
function read() {
  const tag = String.fromCharCode(input[at++]);
  switch (tag) {
    case "N": return null;
    case "T": return true;
    case "F": return false;
    case "i": return take(8).readBigInt64LE();
    case "d": return take(8).readDoubleLE();
    case "s": return text(take(count()));
    case "I": {
      const bytes = take(count());
      let value = 0n;
      for (let k = bytes.length - 1; k >= 0; k--) value = value << 8n | BigInt(bytes[k]);
      return BigInt.asIntN(8 * bytes.length, value);
    }
    case "q": return Array.from({length: count()}, () => take(8).readBigInt64LE());
    case "f": return Array.from({length: count()}, () => take(8).readDoubleLE());
    case "l": case "t": return Array.from({length: count()}, read);
    case "S": case "Z": return new Set(Array.from({length: count()}, read));
    case "D": return Pairs.from({length: count()}, () => [read(), read()]);
  }
  throw new Unfit("holds a value that JavaScript has no type for");
}

// UTF-8 in which halves of surrogate pairs may stand alone, as they may in a string.
function text(bytes) {
  const plain = bytes.toString("utf8");
  if (!plain.includes("\ufffd")) return plain;
  const parts = [];
  for (let k = 0; k < bytes.length;) {
    const first = bytes[k++], more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let point = more ? first & 0x3f >> more : first;
    for (let left = more; left > 0; left--) point = point << 6 | bytes[k++] & 0x3f;
    parts.push(String.fromCodePoint(point));
  }
  return parts.join("");
}

// -- values to the types that a function declares -------------------------------------------------------------------

const PLAIN = {
  number: (value) => typeof value === "number" || typeof value === "bigint" && exact(value),
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  bigint: (value) => typeof value === "bigint",
  null: (value) => value === null,
};
const exact = (value) => BigInt.asIntN(54, value) === value;
const check = (holds, problem) => {
  if (!holds) throw new Unfit(problem);
};

function as(value, [kind, ...parts]) {
  if (kind in PLAIN) {
    const what = kind === "number" && typeof value === "bigint" ? "is more than a number holds exactly" : `is no ${kind}`;
    check(PLAIN[kind](value), what);
    return kind === "number" ? Number(value) : value;
  }
  switch (kind) {
    case "union": return either(value, parts);
    case "array": return items(value).map((item) => as(item, parts[0]));
    case "tuple":
      check(items(value).length === parts.length, "has another length than the tuple");
      return value.map((item, k) => as(item, parts[k]));
    case "set": return new Set(items(value instanceof Set ? [...value] : value).map((item) => as(item, parts[0])));
    case "map":
      check(value instanceof Pairs, "is no map");
      return new Map([...value].map(([key, item]) => [as(keyed(key, parts[0]), parts[0]), as(item, parts[1])]));
    case "ListNode": return listOf(value === null ? [] : items(value));
    case "TreeNode": return treeOf(value === null ? [] : items(value));
  }
  return plain(value);
}
function either(value, kinds) {
  let problem;
  for (const kind of kinds) {
    try {
      return as(value, kind);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      problem = problem || error;
    }
  }
  throw problem;
}
function items(value) {
  check(Array.isArray(value) && !(value instanceof Pairs), "is no list");
  return value;
}
// JSON has no keys but texts: one that is an integer stands for it.
function keyed(key, [kind]) {
  return typeof key === "string" && (kind === "number" || kind === "bigint") && /^-?\d{1,30}$/.test(key) ? BigInt(key) : key;
}
function plain(value) {
  if (typeof value === "bigint") return exact(value) ? Number(value) : value;
  if (value instanceof Set) return new Set([...value].map(plain));
  if (value instanceof Pairs) {
    if (value.some(([key]) => typeof key !== "string")) return new Map([...value].map((pair) => pair.map(plain)));
    const made = {};
    for (const [key, item] of value)
      Object.defineProperty(made, key, {value: plain(item), writable: true, enumerable: true, configurable: true});
    return made;
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

// -- nodes, as LeetCode writes them: lists as arrays, trees level by level with null where a child is not there -------

function listOf(values) {
  return values.reduceRight((next, value) => new (find("ListNode"))(plain(value), next), null);
}
function treeOf(values) {
  if (values.length === 0 || values[0] === null) return null;
  const Node = find("TreeNode"), nodes = [new Node(plain(values[0]))];
  let next = 1;
  for (let k = 0; k < nodes.length; k++)
    for (const side of ["left", "right"])
      if (next < values.length && values[next++] !== null) nodes.push(nodes[k][side] = new Node(plain(values[next - 1])));
  check(next >= values.length, "has values without a parent");
  return nodes[0];
}
function valuesOf(node, kind) {
  const values = [];
  if (kind === "ListNode") {
    for (; node; node = node.next) {
      if (values.push(node.val) > MOST / 9) throw new TooLarge(); // a ring
    }
    return values;
  }
  const nodes = [node];
  for (let k = 0; k < nodes.length; k++) {
    if (values.push(nodes[k] ? nodes[k].val : null) > MOST / 9) throw new TooLarge();
    if (nodes[k]) nodes.push(nodes[k].left, nodes[k].right);
  }
  while (values.length && values[values.length - 1] === null) values.pop();
  return values;
}
const nodeKind = ([kind, ...parts]) =>
  kind === "union" ? parts.map(nodeKind).find(Boolean) : kind === "ListNode" || kind === "TreeNode" ? kind : undefined;

// -- values out -------------------------------------------------------------------------------------------------------

class Writer {
  constructor() {
    this.out = Buffer.alloc(1 << 12);
    this.size = 0;
  }
  // Makes room, which may be in another buffer, and returns where it begins.
  room(size) {
    const needed = this.size + size;
    if (needed > MOST) throw new TooLarge();
    if (needed > this.out.length) this.out = Buffer.concat([this.out], Math.max(2 * this.out.length, needed));
    this.size = needed;
    return needed - size;
  }
  head(tag, number) {
    const place = this.room(5);
    this.out.write(tag, place, "latin1");
    this.out.writeUInt32LE(number, place + 1);
  }
  bytes(tag, bytes) {
    this.head(tag, bytes.length);
    const place = this.room(bytes.length);
    bytes.copy(this.out, place);
  }
  tag(tag) {
    const place = this.room(1);
    this.out.write(tag, place, "latin1");
  }
  put(value, kind) {
    const node = value instanceof globalThis.ListNode ? "ListNode" : value instanceof globalThis.TreeNode ? "TreeNode" : nodeKind(kind);
    if (node && (value === null || typeof value === "object" && !Array.isArray(value))) return this.put(valuesOf(value, node), ["any"]);
    switch (typeof value) {
      case "undefined": return this.tag("N");
      case "boolean": return this.tag(value ? "T" : "F");
      case "string": return this.bytes("s", utf8(value));
      case "bigint": return this.putInteger(value);
      case "number": return this.putNumber(value);
      case "object": return value === null ? this.tag("N") : this.putObject(value, kind);
    }
    return this.bytes("x", Buffer.from(typeof value));
  }
  putNumber(value) {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) return this.putInteger(BigInt(value));
    this.tag("d");
    const place = this.room(8);
    this.out.writeDoubleLE(value, place);
  }
  putInteger(value) {
    if (BigInt.asIntN(64, value) === value) {
      this.tag("i");
      const place = this.room(8);
      this.out.writeBigInt64LE(value, place);
      return;
    }
    const digits = (value < 0n ? -value : value).toString(16), size = (digits.length >> 1) + 2;
    const bytes = Buffer.from(BigInt.asUintN(8 * size, value).toString(16).padStart(2 * size, "0"), "hex").reverse();
    this.bytes("I", bytes);
  }
  putObject(value, kind) {
    const [, first, second] = kind[0] === "array" || kind[0] === "map" || kind[0] === "set" ? kind : [];
    if (Array.isArray(value) && kind[0] === "tuple") {
      this.head("t", value.length);
      for (let k = 0; k < value.length; k++) this.put(value[k], kind[k + 1] || ["any"]);
    } else if (Array.isArray(value) || ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      this.head("l", value.length);
      for (let k = 0; k < value.length; k++) this.put(value[k], first || ["any"]);
    } else if (value instanceof Set) {
      this.head("S", value.size);
      for (const item of value) this.put(item, first || ["any"]);
    } else if (value instanceof Map) {
      this.head("D", value.size);
      for (const [key, item] of value) this.put(key, first || ["any"]), this.put(item, second || ["any"]);
    } else if ([Object.prototype, null].includes(Object.getPrototypeOf(value))) {
      const entries = Object.entries(value);
      this.head("D", entries.length);
      for (const [key, item] of entries) this.put(key, ["any"]), this.put(item, ["any"]);
    } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      this.put(value.valueOf(), ["any"]);
    } else {
      this.bytes("x", Buffer.from(String(value.constructor && value.constructor.name)));
    }
  }
}
function utf8(value) {
  if (!/[\ud800-\udfff]/.test(value)) return Buffer.from(value, "utf8");
  const parts = [];
  for (const letter of value) {
    const point = letter.codePointAt(0);
    parts.push(point >= 0xd800 && point < 0xe000
      ? Buffer.from([0xe0 | point >> 12, 0x80 | point >> 6 & 0x3f, 0x80 | point & 0x3f]) : Buffer.from(letter, "utf8"));
  }
  return Buffer.concat(parts);
}
function send(status, data) {
  const head = Buffer.alloc(17);
  head.writeUInt32LE(13 + data.length, 0);
  head.writeUInt32LE(input.readUInt32LE(0), 4);
  head[8] = status;
  const frame = Buffer.concat([head, data]);
  for (let sent = 0; sent < frame.length;) sent += fs.writeSync(3, frame, sent);
}

// -- the call -----------------------------------------------------------------------------------------------------------

const program = new Module(path.join(__dirname, "solution.js"), null);
program.filename = program.id;
program.paths = Module._nodeModulePaths(__dirname);

// The last line lets names of the program, which are no properties of anything, be found. Where `import`, `export` or a
// waiting statement make it a module of the newer kind, it is another file, which ends likewise.
async function load() {
  const text = fs.readFileSync(program.id, "utf8"), newer = path.join(__dirname, "solution.mjs");
  try {
    program._compile(`${text}\n;typeof module === "object" && (module.scaleboxFind = (name) => eval(name));`, program.id);
  } catch (error) {
    const waits = error instanceof SyntaxError || (error && error.code === "ERR_REQUIRE_ASYNC_MODULE");
    if (!waits || !fs.existsSync(newer)) throw error;
  }
  if (program.scaleboxFind) return;
  const found = await import(newer);
  program.scaleboxFind = found.scaleboxFind;
  program.exports = typeof found.default === "object" ? {...found.default, ...found} : found;
}

function find(name) {
  try {
    return program.scaleboxFind(name);
  } catch (error) {
    if (!(error instanceof ReferenceError) && typeof program.scaleboxFind === "function") throw error;
    return undefined;
  }
}
// The function itself, what the module exports under its name, or a method of a class, `Solution` where none is named.
function target(name, owner) {
  const exported = program.exports || {};
  if (!owner) {
    const free = find(name);
    if (typeof free === "function") return free;
    if (typeof exported[name] === "function") return exported[name].bind(exported);
    if (typeof exported === "function" && exported.name === name) return exported;
  }
  const Class = find(owner || "Solution") || exported[owner || "Solution"];
  if (typeof Class === "function" && typeof Class[name] === "function") return Class[name].bind(Class);
  const object = typeof Class === "function" && Class.prototype ? new Class() : Class;
  if (object && typeof object[name] === "function") return object[name].bind(object);
  throw new TypeError(`${call} is no function of the program`);
}

(async () => {
  await load();
  const [owner, name] = call.includes(".") ? call.split(".") : ["", call];
  const callee = target(name, owner);
  let values;
  try {
    values = read()[0];
    if (parameters.length && values.length > parameters.length) throw [`takes ${parameters.length} arguments, ${values.length} are given`];
    values = values.map((value, k) => {
      try {
        return as(value, parameters[k] || ["any"]);
      } catch (error) {
        throw error instanceof Unfit ? [`argument ${k + 1} ${error.message}`] : error;
      }
    });
  } catch (problem) {
    if (!Array.isArray(problem)) throw problem;
    return send(UNFIT, Buffer.from(problem[0]));
  }
  let value = await callee(...values), kind = returned;
  if (kind[0] === "void") [value, kind] = [values[0], parameters[0] || ["any"]];
  const writer = new Writer();
  try {
    writer.put(value, kind);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return send(TOO_LARGE, Buffer.alloc(0));
  }
  send(VALUE, writer.out.subarray(0, writer.size));
})();
