"""The law behind the proof: what it accepts gives the same results in one process as in fresh ones."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from scalebox.execute.stateless import prove

ENDLESS = "endless"  # as shared_calls.py says it

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")

ThirdParty = Callable[[str], Iterator[dict[str, Any]]]
Both = Callable[[str, str, list[str]], tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """Return `shared_calls.both`, run in a process of its own."""
    runner = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("shared_calls.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with runner:
        assert runner.stdin is not None
        assert runner.stdout is not None
        requests, answers = runner.stdin, runner.stdout

        def ask(code: str, call: str, arguments: list[str]) -> tuple[list[str], list[str]]:
            requests.write(json.dumps({"code": code, "call": call, "arguments": arguments}) + "\n")
            requests.flush()
            fresh, shared = json.loads(answers.readline())
            return fresh, shared

        yield ask
        runner.kill()


#: What may stand at the margin. Most of it keeps state, or would if the functions below used it so.
PRELUDES = """
seen = []
seen = {}
seen = [1, 2, 3]
seen = (1, 2, 3)
seen = set()
n = 0
n = 7
N = n = 3
it = iter([1, 2, 3])
it = (i for i in range(99))
import itertools|it = itertools.count()
from collections import defaultdict|seen = defaultdict(list)
def g(y, acc=[]):|    acc.append(y)|    return len(acc)
def g(y, acc=()):|    return len(acc) + y
def g(y):|    g.n = 1|    return y
def g(y):|    seen.append(y)|    return len(seen)
def g(y):|    return [y, [y]]
def g(y):|    y.append(1)|    return y
def g(y):|    yield y|    yield y
def make():|    n = [0]|    def up(y):|        n[0] += y|        return n[0]|    return up
def make():|    n = [0]|    def up(y):|        n[0] += y|        return n[0]|    return up|g = make()
from functools import lru_cache|@lru_cache(None)|def g(y):|    return [y]
class A:|    n = 0|    def up(self, y):|        self.n += y|        return self.n
class A:|    xs = []|    def up(self, y):|        self.xs.append(y)|        return len(self.xs)
class A:|    def __init__(self):|        self.xs = []|    def up(self, y):|        self.xs += [y]|        return self.xs
class A:|    n = 0|    def up(self, y):|        A.n += y|        return A.n
class A:|    n = 0|    @classmethod|    def up(cls, y):|        cls.n += y|        return cls.n
class A:|    n = 0|    @staticmethod|    def up(y):|        return y
class A:|    def __eq__(self, b):|        b.n = 1|        return True|    def up(self, y):|        return self == y
class A:|    def up(self, y):|        self.n = y|        return y
a = A()
from collections import namedtuple|A = namedtuple('A', 'up n')
h = lambda y, acc=[]: acc.append(y) or len(acc)
h = lambda y: [y]
print(1)
for i in range(3):|    n = i
""".strip().split("\n")

STATEMENTS = """
seen.append(x)
seen[0] = x
seen += [x]
seen.add(x)
seen = [x]
seen.setdefault(x, []).append(x)
global n|n += 1
n += 1
n = x
x += n
x += len(seen)
x += next(it)
x += seen[0]
x += sum(seen)
x = g(x)
x = g([x])
x = list(g(x))
x += h(x)
x += make()(x)
x = [make(), x][1]
x = A().up(x)
x = a.up(x)
x = A.up(A, x)
x = A.up(f, x)
x = A.up(x)
x += A.n
A.n = x
a = A()|x = a.up(x)|x = a.up(x)
a = A()|a.n = x|x = a.n
b = A|b.n = x
for b in [f, g]:|    b.n = x
f.n = getattr(f, 'n', 0) + 1
x = getattr(f, 'n', x)
def up():|    nonlocal x|    x += 1|    return x|up()
def up(y, acc=[]):|    acc.append(y)|    return len(acc)|x = up(x) + up(x)
from functools import lru_cache|@lru_cache(None)|def up(y):|    return [y]|up(x).append(1)|x = len(up(x))
t = seen|t.append(x)
t = [seen]|t[0].append(x)
x = [y for y in seen if y]
x = list(map(h, [x]))
x = sorted([3, 1, 2], key=h)
x = str(x)
x = len({x, (lambda: 0)})
x = str(lambda: 0)[-3:]
x = id(x)
x = {x: seen}
if x in seen:|    return 'again'
try:|    x = g(x)|except Exception:|    x = 1
import sys|x += len(sys.modules)
import random|x += random.random()
import math|math.n = x
""".strip().split("\n")

RETURNS = [
    "x",
    "[x, 1]",
    "len(seen)",
    "seen",
    "n",
    "g",
    "(x, n)",
    "list(seen)",
    "A.n",
    "str(x)",
    "sum(1 for _ in seen)",
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = [line for part in draw(st.lists(st.sampled_from(PRELUDES), max_size=3)) for line in part.split("|")]
    lines.append(draw(st.sampled_from(["def f(x):", "def f(x, acc=[]):", "def f(x, n=1):"])))
    for part in draw(st.lists(st.sampled_from(STATEMENTS), max_size=3)):
        lines += ["    " + line for line in part.split("|")]
    lines.append("    return " + draw(st.sampled_from(RETURNS)))
    return "\n".join(lines)


@given(code=programs())
@settings(max_examples=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_proved_gives_the_same_in_one_process(both: Both, code: str) -> None:
    try:
        tree = ast.parse(code)
        compile(tree, "solution.py", "exec")
    except SyntaxError:
        return
    proved, _ = prove(tree, ["f"])
    event("proved" if proved else "refused")
    if proved:
        fresh, shared = both(code, "f", ["(1,)", "(2,)", "(1,)", "([3],)"])
        assert fresh == shared


@pytest.mark.parametrize("prelude", PRELUDES)
@pytest.mark.parametrize("result", ["x", "len(seen)"])
def test_every_pair_of_fragments(both: Both, prelude: str, result: str) -> None:
    """All programs of one prelude and one statement: what is proved must hold, and state that shows is never proved."""
    for statement in STATEMENTS:
        body = [f"    {line}" for line in (*statement.split("|"), f"return {result}")]
        code = "\n".join([*prelude.split("|"), "def f(x):", *body])
        try:
            tree = ast.parse(code)
            compile(tree, "solution.py", "exec")
        except SyntaxError:
            continue
        if prove(tree, ["f"])[0]:
            fresh, shared = both(code, "f", ["(1,)", "(2,)", "(1,)"])
            assert fresh == shared, code


def test_the_runner_sees_state(both: Both) -> None:
    fresh, shared = both("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)", "f", ["(1,)", "(2,)"])
    assert fresh == ["1"] * 4
    assert shared == ["2", "1", "3", "4"]


def literal_calls(code: str, names: set[str]) -> list[str]:
    """Return the arguments of the calls of `names` in `code` whose arguments are literals, as source of tuples."""
    found = []
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call) and not node.keywords]
    for node in calls:
        if isinstance(node.func, ast.Name) and node.func.id in names:
            source = "(" + "".join(ast.unparse(argument) + ", " for argument in node.args) + ")"
            try:
                ast.literal_eval(source)
            except (ValueError, TypeError, SyntaxError):
                continue
            found.append(source)
    return found


def entry_of(record: dict[str, Any], code: str) -> str:
    if "entry_point" in record:
        return str(record["entry_point"])
    defined = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    used = {node.id for node in ast.walk(ast.parse(record["suffix"])) if isinstance(node, ast.Name)}
    return next((name for name in reversed(defined) if name in used), defined[-1])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["humaneval", "humanevalpack_python", "mbpp", "cruxeval"])
def test_published_programs_keep_the_law(third_party: ThirdParty, both: Both, name: str) -> None:
    total = proved = compared = 0
    for record in third_party(f"function/{name}.jsonl.zst"):
        for candidate in record["candidates"]:
            code = record["prefix"] + candidate["code"]
            entry = entry_of(record, code)
            total += 1
            if not prove(ast.parse(code), [entry])[0]:
                continue
            proved += 1
            arguments = literal_calls(record["suffix"], {entry, "candidate"})[:6]
            fresh, shared = both(code, entry, arguments)
            pairs = zip(fresh, shared, strict=True)
            # A call may run into the time limit of the runner when the machine is busy.
            assert all(other in (one, ENDLESS) for one, other in pairs), record["id"]
            compared += len(fresh)
    assert proved >= 0.95 * total
    assert compared >= 0.9 * total
