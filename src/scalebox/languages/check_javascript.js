// Says whether a program can be parsed, as the kind that node takes it for: what is no script may be a module, and node's own
// check takes any text with `import` or `export` for right. Runs nothing of it.
"use strict";
const fs = require("fs"), vm = require("vm"), { spawnSync } = require("child_process");
const source = process.argv[1], text = fs.readFileSync(source, "utf8");

function isScript() {
  try {
    vm.compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"], { filename: source });
    return true;
  } catch {
    return false;
  }
}

if (!isScript()) {
  // Whether this node would try it as a module at all, and the words for a script that is wrong.
  const { status } = spawnSync(process.execPath, ["--check", source], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  new vm.SourceTextModule(text, { identifier: source });
}
