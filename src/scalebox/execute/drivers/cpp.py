"""C++: the driver's header comes before the program's text, which is included, and its calls behind it.

The types of a function are the compiler's to find out (aliases, macros and all), by templates over pointers to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from scalebox.execute.drivers import Driven, NoFunction, signature, support
from scalebox.languages.language import Language

LANGUAGES = ("cpp", "cpp20")

#: Words that the lines behind the program use, and that macros of the program may have made into others.
_WORDS = "main int long auto return const void case switch default static template"
_LIST_NODE = (
    "struct ListNode { int val; ListNode *next; ListNode() : val(0), next(nullptr) {} "
    "ListNode(int x) : val(x), next(nullptr) {} ListNode(int x, ListNode *next) : val(x), next(next) {} };"
)
_TREE_NODE = (
    "struct TreeNode { int val; TreeNode *left; TreeNode *right; TreeNode() : val(0), left(nullptr), right(nullptr) {} "
    "TreeNode(int x) : val(x), left(nullptr), right(nullptr) {} "
    "TreeNode(int x, TreeNode *left, TreeNode *right) : val(x), left(left), right(right) {} };"
)
_NODES = {"ListNode": _LIST_NODE, "TreeNode": _TREE_NODE}
#: What is there already. Once more it would not be found, for where it is precompiled it is no file.
_ALL_OF_STD = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]bits/stdc\+\+\.h[>\"]", re.MULTILINE)
_ERROR = r"^(?:solution\.cpp:(?P<line>\d+):(?:\d+:)? |\S+: )?(?:fatal )?error: (?P<message>.*)$"


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver. One without any `#include` gets what such ones expect: all of `std`."""
    found = signature.functions(source)
    chosen = [_chosen(found, call) for call in calls]
    cases = [f"  case {number}: {_run(functions)}" for number, functions in enumerate(chosen)]
    counts = {len(one.parameters) for functions in chosen if len(functions) > 1 for one in functions}
    nodes = [name for name in _NODES if signature.mentions(source, name)]
    lines = [
        "#include <bits/stdc++.h>",
        '#include "scalebox_driver.hpp"',
        *(["using namespace std;"] if not re.search(r"^[ \t]*#[ \t]*include", source, re.MULTILINE) else []),
        *(_NODES[name] for name in nodes if not signature.declares(source, name)),
        "#define main scalebox_unused_main",  # one that the program has for itself
        '#include "solution.cpp"',
        *(f"#undef {word}" for word in _WORDS.split()),
        *(_taking(count) for count in sorted(counts)),
        *(f"SCALEBOX_{name.upper()}({name})" for name in nodes),
        "int main() {",
        "  switch (scalebox_driver::function_number()) {",
        *cases,
        "  default: return 70;",
        "  }",
        "}",
        "",
    ]
    files = {
        "solution.cpp": _ALL_OF_STD.sub("", source).encode("utf-8", "replace"),
        "scalebox_driver.hpp": support("driver.hpp").encode(),
        "scalebox_driver.cpp": "\n".join(lines).encode(),
    }
    return Driven(msgspec.structs.replace(language, error=_ERROR), files, {"source": "scalebox_driver.cpp"})


def _chosen(found: Sequence[signature.Function], call: str) -> list[signature.Function]:
    """Return the function that `call` names, or several with one name that differ in their number of parameters."""
    chosen = signature.choose(found, call)
    if any("template" in one.before for one in chosen):
        raise NoFunction(f"{call} is a template, whose types no call can tell: declare a function of plain types")
    if len({len(one.parameters) for one in chosen}) < len(chosen):
        raise NoFunction(f"{call} is declared {len(chosen)} times with the same number of parameters")
    return chosen


def _run(functions: Sequence[signature.Function]) -> str:
    """Return the statement that calls the function, or of several the one that takes as many arguments as are given."""
    owner = "".join(f"{part}::" for part in functions[0].owner.split(".") if part)
    pointer = f"&::{owner}{functions[0].name}"
    if len(functions) == 1:
        return f"return scalebox_driver::run({pointer});"
    counts = [len(one.parameters) for one in functions]
    one_each = [f"case {count}: return scalebox_driver::run(scalebox_taking{count}({pointer}));" for count in counts]
    return "switch (scalebox_driver::given()) { " + " ".join(one_each) + " default: return scalebox_driver::none(); }"


def _taking(count: int) -> str:
    """Return functions that tell from others of its name the function that takes `count` arguments."""
    types = ["R", *(f"A{number}" for number in range(count))]
    taken = ", ".join(types[1:])
    names = ", ".join(f"class {name}" for name in types)
    return (
        f"template <{names}> auto scalebox_taking{count}(R (*function)({taken})) {{ return function; }}\n"
        f"template <{names}, class C> auto scalebox_taking{count}(R (C::*method)({taken})) {{ return method; }}"
    )
