"""What every attack is held to."""

from __future__ import annotations

import itertools
import os

from tests.hostile.conftest import Target
from tests.hostile.outside import comes_true, differences, look, ours
from tests.hostile.programs import HONEST_FUNCTION, HONEST_SCRIPT, Attack, native

#: Right only where it is alone: nothing in its folders, and no process that is a stranger to it.
_NOSY = """
import os
found = []
for place in {".", os.environ["TMPDIR"], "/dev/shm"}:
    try:
        found += os.listdir(place)
    except OSError:
        pass
print(found or int(input()) ** 2)
"""

#: By language, programs that square a number.
HONEST_NATIVE = {
    "c": '#include <stdio.h>\nint main(void) { int n; scanf("%d", &n); printf("%d\\n", n * n); return 0; }',
    "cpp": "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n << std::endl; }",
    "java": "public class Main { public static void main(String[] a) {"
    " int n = new java.util.Scanner(System.in).nextInt(); System.out.println(n * n); } }",
    "javascript": "const n = Number(require('fs').readFileSync(0, 'utf8'));\nconsole.log(n * n);",
    "bash": "read -r n; echo $((n * n))",
    "go": 'package main\nimport "fmt"\nfunc main() { var n int; fmt.Scan(&n); fmt.Println(n * n) }',
    "rust": "fn main() { let mut line = String::new(); std::io::stdin().read_line(&mut line).unwrap();"
    ' let n: i64 = line.trim().parse().unwrap(); println!("{}", n * n); }',
}
#: Numbers for programs in Java, each to be built anew: the compiler stays from the second build on, in its own jail.
_new = itertools.count()
#: After these a jail may be another one: what the kernel killed for want of memory can be an agent.
_MAY_TAKE_THE_JAIL = {"memory_exceed"}


def _honest(language: str) -> list[Attack]:
    if language != "python":
        endings = [f"// {os.getpid()} {next(_new)}" for _ in range(2)] if language == "java" else [""]
        codes = [HONEST_NATIVE[language] + ending for ending in endings]
        return [native(language, f"honest {language}", "passed", code, cpu_s=10) for code in codes]
    return [
        Attack("honest-script", "stdin", frozenset({"passed"}), HONEST_SCRIPT, {}),
        Attack("nosy-script", "stdin", frozenset({"passed"}), _NOSY, {}),
        Attack("honest-function", "call", frozenset({"passed"}), HONEST_FUNCTION, {}),
    ]


def _pass(target: Target, attack: Attack) -> None:
    for honest in _honest(attack.language):
        result = target.verify(honest.record())
        assert result.verdict == "passed", (honest.name, result.message)


def check_attack(target: Target, attack: Attack) -> None:
    """Check that an attack gets a right label, changes nothing outside, and spoils no later sample."""
    target.take_over()
    _pass(target, attack)
    before, processes, agents = look(), set(ours()), target.agents()
    result = target.verify(attack.record())
    cases = [(case.verdict, case.detail, case.stderr[-200:]) for case in result.cases]
    assert result.verdict in attack.verdicts, (result.message, cases)
    if result.verdict == "resource_denied":
        assert result.denied, "what goes to the audit log names the thing"
        assert all(what.strip() for what in result.denied), result.denied
    if attack.denied and result.verdict == "resource_denied":
        assert all(attack.denied in case.detail for case in result.cases), cases
        assert any(attack.denied in what for what in result.denied), result.denied
        assert result.risk == "high"
    _pass(target, attack)
    if result.verdict not in _MAY_TAKE_THE_JAIL:
        assert agents <= target.agents(), "the jail was lost"
    assert look() == before, differences(before, look())
    assert comes_true(lambda: len(ours()) <= max(len(processes), 1)), "processes are left"
