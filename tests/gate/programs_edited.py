"""Programs, and edits of how they are written that change nothing of what they do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

PROGRAMS = (
    """
import math
from collections import Counter, defaultdict

def solve(values, limit):
    total = 0
    seen = defaultdict(int)
    for value in values:
        total += value * 2
        seen[value] += 1
    if total > limit:
        return "over: " + str(total)
    return max(seen.values(), default=0) + math.gcd(total, 12)
""",
    """
import sys
from functools import lru_cache

def main():
    numbers = list(map(int, sys.stdin.read().split()))

    @lru_cache(maxsize=None)
    def ways(rest):
        if rest < 2:
            return 1
        return ways(rest - 1) + ways(rest - 2)

    for number in numbers:
        answer = ways(number)
        print("ways", answer)

if __name__ == "__main__":
    main()
""",
    """
import heapq
import itertools

class Queue:
    def __init__(self, items):
        self.items = list(items)
        heapq.heapify(self.items)

    def take(self, count):
        taken = []
        while self.items and len(taken) < count:
            smallest = heapq.heappop(self.items)
            taken.append(smallest)
        return [left + right for left, right in itertools.pairwise(taken)]

def run(items):
    queue = Queue(items)
    result = queue.take(3)
    return (result, "end")
""",
    """
from bisect import bisect_left

def longest(sequence):
    tails = []
    for item in sequence:
        place = bisect_left(tails, item)
        if place == len(tails):
            tails.append(item)
        else:
            tails[place] = item
    text = "length"
    return {text: len(tails), "tails": tails}
""",
)


class _Renamed(ast.NodeTransformer):
    """Gives every local variable of a function that no other function has another name."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        arguments = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        functions = {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef)}
        stored = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        names = {name: f"renamed_{len(stored) - at}" for at, name in enumerate(dict.fromkeys(stored))}
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in names and one.id not in arguments | functions:
                one.id = names[one.id]
        return node


def renamed(source: str) -> str:
    return ast.unparse(_Renamed().visit(ast.parse(source)))


def _commented(source: str) -> str:
    return "# a comment\n" + source.replace("\n", "  # and one more\n") + "# the end"


def _documented(source: str) -> str:
    return re.sub(r"^( *)(def .*:)$", r'\1\2\n\1    """What it does."""', source, flags=re.MULTILINE)


def _imports_turned(source: str) -> str:
    tree = ast.parse(source)
    imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    rest = [one for one in tree.body if one not in imports]
    for one in imports:
        one.names.reverse()
    return ast.unparse(ast.Module([*reversed(imports), *rest], []))


EDITS: Mapping[str, Callable[[str], str]] = {
    "comments": _commented,
    "blank lines": lambda source: source.replace("\n", "\n\n"),
    "docstrings": _documented,
    "quotes": lambda source: source.replace('"', "'"),
    "parentheses": lambda source: re.sub(r"return (.+)$", r"return (\1)", source, flags=re.MULTILINE),
    "indentation": lambda source: source.replace("    ", "\t"),
    "formatting": lambda source: ast.unparse(ast.parse(source)),
    "imports": _imports_turned,
    "locals": renamed,
    "all": lambda source: _commented(_documented(_imports_turned(renamed(source)))),
}
