"""Small programs in every language, by the label that they must get. Each reads two numbers, or nothing."""

from __future__ import annotations

from typing import NamedTuple

#: Appears in a program that does not compile, in its third line.
BROKEN_LINE = 3


class Programs(NamedTuple):
    """One language's programs. `denied` tries to start a process or to reach the network, and fails if it cannot.

    What a language has no means for is "".
    """

    wrong: str
    broken: str
    exits: str
    loops: str
    hoards: str
    floods: str
    denied: str
    #: What the environment, the arguments or the file system of a case may show of the case before: prints "clean".
    looks: str = ""


def c(body: str, head: str = "") -> str:
    headers = "".join(f"#include <{name}.h>\n" for name in ("stdio", "stdlib", "string", "unistd"))
    return f"{headers}{head}int main(void) {{ {body} return 0; }}\n"


def java(body: str) -> str:
    main = f"public static void main(String[] a) throws Exception {{ {body} }}"
    return f"import java.util.*;\npublic class Main {{ {main} }}\n"


def go(body: str, *imports: str) -> str:
    return "package main\nimport (" + "; ".join(f'"{name}"' for name in imports) + f")\nfunc main() {{ {body} }}\n"


C = Programs(
    wrong=c('int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b + 1);'),
    broken="#include <stdio.h>\nint main(void) {\n  return nothing;\n}\n",
    exits=c("exit(3);"),
    loops=c("volatile int x = 0; for (;;) x++;"),
    hoards=c("for (;;) memset(malloc(1 << 20), 1, 1 << 20);"),
    floods=c('for (;;) puts("flood");'),
    denied=c("if (fork() < 0) exit(4);"),
    looks=c(
        'FILE *f = fopen("left", "r"); puts(f ? "dirty" : "clean"); f = fopen("left", "w"); fputs("x", f);'
        ' chmod("/proc/self/exe", 0500); truncate("/proc/self/exe", 0);',
        "#include <sys/stat.h>\n",
    ),
)

CPP = Programs(
    wrong="#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b + 1; }\n",
    broken='#include <bits/stdc++.h>\nint main() {\n  int x = "text";\n}\n',
    exits="#include <stdexcept>\n#include <cstdlib>\nint main() { std::exit(3); }\n",
    loops="int main() { volatile int x = 0; for (;;) x = x + 1; }\n",
    hoards="#include <vector>\nint main() { std::vector<std::vector<char>> v; for (;;) v.emplace_back(1 << 20, 1); }\n",
    floods='#include <iostream>\nint main() { for (;;) std::cout << "flood\\n"; }\n',
    denied=(
        "#include <sys/socket.h>\n#include <cstdlib>\n"
        "int main() { if (socket(AF_INET, SOCK_STREAM, 0) < 0) std::exit(4); }\n"
    ),
)

JAVA = Programs(
    wrong=java("Scanner s = new Scanner(System.in); System.out.println(s.nextInt() + s.nextInt() + 1);"),
    broken='public class Main {\n  public static void main(String[] a) {\n    int x = "text";\n  }\n}\n',
    exits=java("System.exit(3);"),
    loops=java("int x = 0; while (true) x++;"),
    hoards=java("List<byte[]> l = new ArrayList<>(); while (true) l.add(new byte[1 << 20]);"),
    floods=java('while (true) System.out.println("flood flood flood");'),
    denied=java('new java.net.Socket("127.0.0.1", 9);'),
)

RUST = Programs(
    wrong=(
        "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap();"
        ' println!("{}", s.split_whitespace().map(|w| w.parse::<i32>().unwrap()).sum::<i32>() + 1); }\n'
    ),
    broken='\nfn main() {\n    let x: i32 = "text";\n}\n',
    exits="fn main() { std::process::exit(3); }\n",
    loops="fn main() { let mut x = 0u64; loop { x = unsafe { std::ptr::read_volatile(&x) } + 1; } }\n",
    hoards="fn main() { let mut v = Vec::new(); loop { v.push(vec![1u8; 1 << 20]); } }\n",
    floods='fn main() { loop { println!("flood"); } }\n',
    denied='fn main() { std::net::TcpStream::connect("127.0.0.1:9").unwrap(); }\n',
)

GO = Programs(
    wrong=go("var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b + 1)", "fmt"),
    broken='package main\nfunc main() {\n\tvar x int = "text"\n\t_ = x\n}\n',
    exits=go("os.Exit(3)", "os"),
    loops=go("x := 0; for { x++; _ = x }"),
    hoards=go("var v [][]byte; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; v = append(v, b) }"),
    floods=go('for { fmt.Println("flood") }', "fmt"),
    denied=go('_, err := net.Dial("tcp", "127.0.0.1:9"); if err != nil { os.Exit(4) }', "net", "os"),
)

JAVASCRIPT = Programs(
    wrong='const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);\nconsole.log(a + b + 1);\n',
    broken="function f() {\n  return 1;\n  const = 2;\n}\n",
    exits="process.exit(3);\n",
    loops="for (;;);\n",
    hoards="const v = []; for (;;) v.push(Buffer.alloc(1 << 20, 1));\n",
    floods='const fs = require("fs"); for (;;) fs.writeSync(1, "flood\\n");\n',
    denied='require("child_process").execFileSync("/bin/true");\n',
)

TYPESCRIPT = JAVASCRIPT._replace(
    wrong='import * as fs from "fs";\nconst [a, b]: number[] = fs.readFileSync(0, "utf8").split(" ").map(Number);\n'
    "console.log(a + b + 1);\n",
    broken='function f(): number {\n  const x: number = 1;\n  return "text";\n}\n',
    loops="for (;;) { }\n",
    hoards="const v: Buffer[] = []; for (;;) { v.push(Buffer.alloc(1 << 20, 1)); }\n",
)

PERL = Programs(
    wrong='my ($a, $b) = split " ", <STDIN>;\nprint $a + $b + 1;\n',
    broken="use strict;\nmy $x = 1;\nmy $y = $nothing;\nprint $y;\n",
    exits="exit 3;\n",
    loops="1 while 1;\n",
    hoards='my @v; push @v, "x" x (1 << 20) . scalar(@v) while 1;\n',
    floods='print "flood\\n" while 1;\n',
    denied="defined(fork()) or exit 4;\n",
    looks='print -e "left" ? "dirty" : "clean";\nopen(my $f, ">", "left");\nprint $f "x";\n',
)

BASH = Programs(
    wrong="read -r a b\necho $((a + b + 1))\n",
    broken="a=1\nb=2\nif true; fi\n",
    exits="exit 3\n",
    loops="while :; do :; done\n",
    hoards='s=xxxxxxxx\nwhile :; do s="$s$s"; done\n',
    floods="while :; do echo flood; done\n",
    denied="/bin/true || exit 4\n",
)

LUA = Programs(
    wrong='print(io.read("n") + io.read("n") + 1)\n',
    broken="local a = 1\nlocal b = 2\nlocal = 3\n",
    exits="os.exit(3)\n",
    loops="while true do end\n",
    hoards='local v = {} while true do v[#v + 1] = string.rep("x", 1 << 20) .. #v end\n',
    floods='while true do print("flood") end\n',
    denied='if not os.execute("true") then os.exit(4) end\n',
)

RUBY = Programs(
    wrong="puts gets.split.map(&:to_i).sum + 1\n",
    broken="a = 1\nb = 2\nc = = 3\n",
    exits="exit 3\n",
    loops="loop {}\n",
    hoards='v = []\nloop { v << "x" * (1 << 20) }\n',
    floods='loop { puts "flood" }\n',
    denied="fork\n",
)

PHP = Programs(
    wrong='<?php\n[$a, $b] = explode(" ", fgets(STDIN));\necho $a + $b + 1;\n',
    broken="<?php\n$a = 1;\n$b = = 2;\n",
    exits="<?php\nexit(3);\n",
    loops="<?php\nwhile (true);\n",
    hoards='<?php\n$v = [];\nwhile (true) $v[] = str_repeat("x", 1 << 20);\n',
    floods='<?php\nwhile (true) echo "flood\\n";\n',
    denied='<?php\nif (exec("true; echo done") !== "done") exit(4);\n',
)

KOTLIN = Programs(
    wrong='fun main() {\n    val (a, b) = readLine()!!.split(" ").map { it.toInt() }\n    println(a + b + 1)\n}\n',
    broken='fun main() {\n    val x = 1\n    val y: Int = "text"\n}\n',
    exits="fun main() { kotlin.system.exitProcess(3) }\n",
    loops="fun main() { var x = 0L; while (true) x++ }\n",
    hoards="fun main() { val v = ArrayList<ByteArray>(); while (true) v.add(ByteArray(1 shl 20)) }\n",
    floods='fun main() { while (true) println("flood flood flood") }\n',
    denied='fun main() { java.net.Socket("127.0.0.1", 9) }\n',
)

KOTLIN_SCRIPT = Programs(
    wrong='val (a, b) = readLine()!!.split(" ").map { it.toInt() }\nprintln(a + b + 1)\n',
    broken='val x = 1\nprintln(x)\nval y: Int = "text"\n',
    exits="kotlin.system.exitProcess(3)\n",
    loops="var x = 0L\nwhile (true) x++\n",
    hoards="val v = ArrayList<ByteArray>()\nwhile (true) v.add(ByteArray(1 shl 20))\n",
    floods='while (true) println("flood flood flood")\n',
    denied='java.net.Socket("127.0.0.1", 9)\n',
)


def scala(body: str) -> str:
    return f"object Main {{ def main(args: Array[String]): Unit = {{ {body} }} }}\n"


SCALA = Programs(
    wrong='object Main extends App { println(scala.io.StdIn.readLine().split(" ").map(_.toInt).sum + 1) }\n',
    broken='object Main {\n  def main(args: Array[String]): Unit = {\n    val x: Int = "text"\n  }\n}\n',
    exits=scala("sys.exit(3)"),
    loops=scala("var x = 0L; while (true) x += 1"),
    hoards=scala("val v = scala.collection.mutable.ArrayBuffer[Array[Byte]](); while (true) v += new Array(1 << 20)"),
    floods=scala('while (true) println("flood flood flood")'),
    denied=scala('new java.net.Socket("127.0.0.1", 9)'),
)


def csharp(body: str) -> str:
    return f"using System;\nusing System.Collections.Generic;\nclass P {{ static void Main() {{ {body} }} }}\n"


CSHARP = Programs(
    wrong=csharp("var w = Console.ReadLine().Split(' '); Console.WriteLine(int.Parse(w[0]) + int.Parse(w[1]) + 1);"),
    broken='class P {\n  static void Main() {\n    int x = "text";\n  }\n}\n',
    exits=csharp("Environment.Exit(3);"),
    loops=csharp("long x = 0; while (true) x++;"),
    hoards=csharp(
        "var v = new List<byte[]>();"
        " while (true) { var b = new byte[1 << 20]; for (int i = 0; i < b.Length; i += 512) b[i] = 1; v.Add(b); }"
    ),
    floods=csharp('while (true) Console.WriteLine("flood flood flood");'),
    denied=csharp('System.Diagnostics.Process.Start("/bin/true").WaitForExit();'),
)

HASKELL = Programs(
    wrong="main :: IO ()\nmain = getLine >>= print . (+ 1) . sum . map (read :: String -> Int) . words\n",
    broken="main :: IO ()\nmain = do\n  putStrLn (1 :: Int)\n",
    exits="import System.Exit\nmain :: IO ()\nmain = exitWith (ExitFailure 3)\n",
    loops="import Data.IORef\nmain :: IO ()\nmain = newIORef 'x' >>= go where go r = modifyIORef' r id >> go r\n",
    hoards="main :: IO ()\nmain = do\n  let v = [1 ..] :: [Integer]\n  print (length v)\n  print (sum v)\n",
    floods='main :: IO ()\nmain = putStrLn "flood" >> main\n',
    denied='import System.Process\nmain :: IO ()\nmain = callCommand "true"\n',
)

D = Programs(
    wrong="import std;\nvoid main() { readln().split().map!(to!int).fold!((a, b) => a + b)(1).writeln; }\n",
    broken='void main() {\n  int y;\n  int x = "text";\n}\n',
    exits="import core.stdc.stdlib;\nvoid main() { exit(3); }\n",
    loops="__gshared ulong x;\nvoid main() { for (;;) x++; }\n",
    hoards="void main() { ubyte[][] v; for (;;) { auto b = new ubyte[1 << 20]; b[] = 1; v ~= b; } }\n",
    floods='import std.stdio;\nvoid main() { for (;;) writeln("flood"); }\n',
    denied='import std.process;\nvoid main() { if (execute(["/bin/true"]).status != 0) throw new Exception("no"); }\n',
)
_D_TEST = "unittest {{ {} }}\n".format
D_UNITTEST = D._replace(
    wrong='import std.stdio;\nunittest { writeln("43"); }\n',
    exits="import core.stdc.stdlib;\n" + _D_TEST("exit(3);"),
    loops="__gshared ulong x;\n" + _D_TEST("for (;;) x++;"),
    hoards=_D_TEST("ubyte[][] v; for (;;) { auto b = new ubyte[1 << 20]; b[] = 1; v ~= b; }"),
    floods="import std.stdio;\n" + _D_TEST('for (;;) writeln("flood");'),
    denied="import std.process;\n" + _D_TEST('assert(execute(["/bin/true"]).status == 0);'),
)

R = Programs(
    wrong='cat(sum(scan(file("stdin"), quiet = TRUE)) + 1)\n',
    broken="a <- 1\nb <- 2\nc <- = 3\n",
    exits="quit(status = 3)\n",
    loops="repeat {}\n",
    hoards="v <- list()\nrepeat v[[length(v) + 1]] <- rep(1, 131072)\n",
    floods='repeat cat("flood\\n")\n',
    denied='if (system("true") != 0) quit(status = 4)\n',
)

RACKET = Programs(
    wrong="#lang racket\n(displayln (+ (read) (read) 1))\n",
    broken="#lang racket\n(define x 1)\n(define y (+ x nothing))\n",
    exits="#lang racket\n(exit 3)\n",
    loops="#lang racket\n(let loop () (loop))\n",
    hoards="#lang racket\n(let loop ([v '()]) (loop (cons (make-bytes 1048576 1) v)))\n",
    floods='#lang racket\n(let loop () (displayln "flood") (loop))\n',
    denied='#lang racket\n(unless (system "true") (exit 4))\n',
)

_COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) {} FROM c;\n".format
SQL = Programs(
    wrong="SELECT 43;\n",
    broken="SELECT 1;\nSELECT 2;\nSELECT FROM WHERE;\n",
    exits=".exit 3\n",
    loops=_COUNT("SELECT max(x)"),
    hoards="CREATE TABLE v(x);\n" + _COUNT("INSERT INTO v SELECT randomblob(1000000)"),
    floods=_COUNT("SELECT 'flood'"),
    denied=".import '|true' v\n",
)


def verilog(body: str) -> str:
    return f"module main;\n  integer a, b, r;\n  initial begin {body} end\nendmodule\n"


VERILOG = Programs(
    wrong=verilog('r = $fscanf(32\'h8000_0000, "%d %d", a, b); $display("%0d", a + b + 1);'),
    broken="module main;\n  initial begin\n    x = = 1;\n  end\nendmodule\n",
    exits=verilog("$finish_and_return(3);"),
    loops=verilog("a = 0; while (1) a = a + 1;"),
    hoards="module main;\n  int v[$];\n  initial forever v.push_back(1);\nendmodule\n",
    floods=verilog('forever $display("flood");'),
    denied="",
)

JULIA = Programs(
    wrong="println(sum(parse.(Int, split(readline()))) + 1)\n",
    broken="a = 1\nb = 2\nc = = 3\n",
    exits="exit(3)\n",
    loops="while true end\n",
    hoards="v = []\nwhile true push!(v, ones(UInt8, 1 << 20)) end\n",
    floods='while true println("flood") end\n',
    denied="run(`true`)\n",
)

SWIFT = Programs(
    wrong='print(readLine()!.split(separator: " ").map { Int($0)! }.reduce(1, +))\n',
    broken='let a = 1\nlet b = 2\nlet c: Int = "text"\n',
    exits="import Foundation\nexit(3)\n",
    loops="var x = 0\nwhile true { x &+= 1 }\n",
    hoards="var v: [[UInt8]] = []\nwhile true { v.append([UInt8](repeating: 1, count: 1 << 20)) }\n",
    floods='while true { print("flood") }\n',
    denied="import Foundation\nif socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0 { exit(4) }\n",
)


def lean(body: str) -> str:
    return f"def main : IO Unit := do\n  {body}\n"


LEAN = Programs(
    wrong=lean('IO.println "43"'),
    broken='def x : Nat := 1\ndef y : Nat := 2\ndef z : Nat := "text"\n',
    exits="def main : IO UInt32 := return 3\n",
    loops="partial def go (n : Nat) : IO Unit := go (n + 1)\n" + lean("go 0"),
    hoards="partial def go (v : List ByteArray) : IO Unit := go (ByteArray.mk (mkArray 1048576 1) :: v)\n"
    + lean("go []"),
    floods='partial def main : IO Unit := do\n  IO.println "flood"\n  main\n',
    denied=lean('discard <| IO.Process.spawn { cmd := "true" }'),
)

ALL = {
    "c": C, "cpp": CPP, "cpp20": CPP, "java": JAVA, "rust": RUST, "go": GO, "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT, "perl": PERL, "bash": BASH, "lua": LUA, "ruby": RUBY, "php": PHP,
    "typescript-transpile": TYPESCRIPT._replace(broken=JAVASCRIPT.broken),
    "kotlin": KOTLIN, "kotlin-script": KOTLIN_SCRIPT, "scala": SCALA, "csharp": CSHARP, "haskell": HASKELL, "d": D,
    "d-unittest": D_UNITTEST, "r": R, "racket": RACKET, "sql": SQL, "verilog": VERILOG, "julia": JULIA,
    "swift": SWIFT, "lean": LEAN,
}  # fmt: skip
