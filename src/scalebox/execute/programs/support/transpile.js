// Takes the types out of all files of TypeScript below this folder: node -e TEXT HOME. Syntax errors end it.
const fs = require("fs"), ts = require(process.argv[1] + "/typescript");
const options = {module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true};
let wrong = false;
for (const name of fs.readdirSync(".", {recursive: true}).filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))) {
  const wanted = {compilerOptions: options, fileName: name, reportDiagnostics: true};
  const made = ts.transpileModule(fs.readFileSync(name, "utf8"), wanted);
  for (const found of made.diagnostics) {
    const at = ts.getLineAndCharacterOfPosition(found.file, found.start);
    console.log(`${name}(${at.line + 1},${at.character + 1}): error TS${found.code}: ${ts.flattenDiagnosticMessageText(found.messageText, " ")}`);
    wrong = true;
  }
  fs.writeFileSync(name.replace(/\.tsx?$/, ".js"), made.outputText);
}
if (wrong) process.exit(1);
