"""What the benchmarks of compiled programs run: by language, four programs that add numbers, the last one wrong by one.

Each reads how many numbers there are, and the numbers. `COMMENT` begins a line that makes a copy of one unique.
"""

from __future__ import annotations

_CPP = "#include <bits/stdc++.h>\nusing namespace std;\nint main() {{ int n; cin >> n; {} }}\n"
_JAVA = (
    "import java.util.*;\nimport java.io.*;\n"
    "public class Main {{ public static void main(String[] a) throws IOException {{\n"
    "  StreamTokenizer in = new StreamTokenizer(new BufferedReader(new InputStreamReader(System.in)));\n"
    "  in.nextToken(); int n = (int) in.nval; long s = 0; {} System.out.println(s); }} }}\n"
)
_RUST = (
    "use std::io::*;\nfn main() {{ let mut t = String::new(); stdin().read_to_string(&mut t).unwrap();\n"
    "  let v: Vec<i64> = t.split_whitespace().skip(1).map(|w| w.parse().unwrap()).collect(); {} }}\n"
)
_GO = (
    'package main\nimport ("bufio"; "fmt"; "os"; "sort")\n'
    "func main() {{ in := bufio.NewReader(os.Stdin); var n, s int\n"
    "  fmt.Fscan(in, &n); v := make([]int, n); for i := range v {{ fmt.Fscan(in, &v[i]) }}\n  sort.Ints(v); {}\n"
    "  fmt.Println(s) }}\n"
)
_JAVASCRIPT = (
    'const v = require("fs").readFileSync(0, "utf8").split(/\\s+/).filter(Boolean).map(Number).slice(1);\n'
    "let s = 0; {} console.log(s);\n"
)
_TYPESCRIPT = (
    'import * as fs from "fs";\n'
    'const v: number[] = fs.readFileSync(0, "utf8").split(/\\s+/).filter(Boolean).map(Number).slice(1);\n'
    "let s: number = 0; {} console.log(s);\n"
)
_SCRIPT_BODIES = (
    "for (const x of v) s += x;",
    "s = v.reduce((a, b) => a + b, 0);",
    "const m = new Map(); v.forEach((x, i) => m.set(i, x)); for (const [, x] of m) s += x;",
    "s = 1; v.sort(); for (const x of v) s += x;",
)


def _programs(frame: str, *bodies: str) -> tuple[str, ...]:
    return tuple(frame.format(body) for body in bodies)


PROGRAMS = {
    "cpp": _programs(
        _CPP,
        "long s = 0; for (int i = 0, x; i < n; i++) cin >> x, s += x; cout << s << endl;",
        "vector<int> v(n); for (auto& x : v) cin >> x; sort(v.begin(), v.end());\n"
        "  long s = 0; for (int i = 0; i < n; i++) s += v[i]; cout << s << '\\n';",
        "map<int, long> m; for (int i = 0, x; i < n; i++) cin >> x, m[x]++;\n"
        '  long s = 0; for (auto& [x, k] : m) s += x * k; printf("%ld\\n", s);',
        "queue<int> q; for (int i = 0, x; i < n; i++) cin >> x, q.push(x);\n"
        "  long s = 1; while (!q.empty()) s += q.front(), q.pop(); cout << s << endl;",
    ),
    "java": _programs(
        _JAVA,
        "for (int i = 0; i < n; i++) { in.nextToken(); s += (long) in.nval; }",
        "List<Integer> v = new ArrayList<>(); for (int i = 0; i < n; i++) { in.nextToken(); v.add((int) in.nval); }\n"
        "  Collections.sort(v); for (int x : v) s += x;",
        "Map<Integer, Integer> m = new TreeMap<>();\n"
        "  for (int i = 0; i < n; i++) { in.nextToken(); m.merge((int) in.nval, 1, Integer::sum); }\n"
        "  for (Map.Entry<Integer, Integer> e : m.entrySet()) s += e.getKey() * e.getValue();",
        "Deque<Integer> q = new ArrayDeque<>(); for (int i = 0; i < n; i++) { in.nextToken(); q.add((int) in.nval); }\n"
        "  s = 1; while (!q.isEmpty()) s += q.poll();",
    ),
    "rust": _programs(
        _RUST,
        'println!("{}", v.iter().sum::<i64>());',
        'let mut v = v; v.sort(); let mut s = 0; for x in &v { s += x; } println!("{}", s);',
        "let mut m = std::collections::HashMap::new(); for x in &v { *m.entry(*x).or_insert(0) += 1; }\n"
        '  println!("{}", m.iter().map(|(x, k)| x * k).sum::<i64>());',
        'println!("{}", v.iter().sum::<i64>() + 1);',
    ),
    "go": _programs(
        _GO,
        "for _, x := range v { s += x }",
        "for i := 0; i < len(v); i++ { s += v[i] }",
        "m := map[int]int{}; for _, x := range v { m[x]++ }; for x, k := range m { s += x * k }",
        "s = 1; for _, x := range v { s += x }",
    ),
    "javascript": _programs(_JAVASCRIPT, *_SCRIPT_BODIES),
    "typescript": _programs(_TYPESCRIPT, *_SCRIPT_BODIES),
}  # fmt: skip

#: Samples of a batch: a virtual machine's start is dear.
SAMPLES = {name: 8 if name == "java" else 16 for name in PROGRAMS}
COMMENT = "// "
