// Builds one program after another, as `tsc` would with the same arguments. What comes with the toolchain (the types of
// the language and of node) is parsed once; every program has a compiler object and a type checker of its own.
//
// A request is the length of what follows (4 bytes, big-endian) and the arguments with NUL between them; the answer is
// an exit code, a length, and what the compiler said. The first answer says that it is there. With arguments on its
// command line it builds with those, says what is wrong, and ends.
"use strict";
const fs = require("fs");
const [home, ...once] = process.argv.slice(1);
const ts = require(home + "/typescript");
const MOST = 8000;
const parsed = new Map();

function check(words) {
  const { options, fileNames, errors } = ts.parseCommandLine(words);
  if (errors.length) return errors;
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (name, ...rest) => {
    if (!name.startsWith(home + "/")) return read(name, ...rest);
    const key = JSON.stringify([name, rest[0]]);
    if (!parsed.has(key)) parsed.set(key, read(name, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram({ rootNames: fileNames, options, host });
  const found = [...program.getSyntacticDiagnostics()];
  if (!found.length) {
    found.push(...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics());
    if (!found.length) found.push(...program.getSemanticDiagnostics());
  }
  found.push(...program.emit().diagnostics);
  return ts.sortAndDeduplicateDiagnostics(found);
}

function transpile(name) {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
  const wanted = { compilerOptions, fileName: name, reportDiagnostics: true };
  const made = ts.transpileModule(fs.readFileSync(name, "utf8"), wanted);
  if (!made.diagnostics.length) fs.writeFileSync(name.replace(/\.ts$/, ".js"), made.outputText);
  return made.diagnostics;
}

function build(words) {
  const found = words[0] === "--transpile" ? transpile(words[1]) : check(words);
  const names = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => "\n" };
  return ts.formatDiagnostics(found, names);
}

function readExactly(size) {
  const data = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const count = fs.readSync(0, data, at, size - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return data;
}

function answer(text) {
  const said = Buffer.from(text).subarray(0, MOST);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(text ? 1 : 0, 0);
  head.writeUInt32BE(said.length, 4);
  const data = Buffer.concat([head, said]);
  for (let at = 0; at < data.length; ) at += fs.writeSync(1, data, at);
}

if (once.length) {
  const said = build(once);
  fs.writeSync(1, said);
  process.exit(said ? 1 : 0);
}
answer("");
for (;;) answer(build(readExactly(readExactly(4).readUInt32BE(0)).toString().split("\0")));
