"""The types that drivers carry: how each language writes them, and values of them."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

_NODES = {"list_node": "ListNode", "tree_node": "TreeNode"}
TYPES: dict[str, dict[str, str]] = {
    "cpp": {
        "i8": "signed char", "i32": "int", "i64": "long long", "u64": "unsigned long long", "f64": "double",
        "f32": "float", "bool": "bool", "str": "const string&", "char": "char", "ints": "vector<int>&",
        "longs": "vector<vector<long long>>", "strs": "vector<string>", "floats": "vector<double>",
        "bools": "vector<bool>", "board": "vector<vector<char>>", "named": "unordered_map<string, int>",
        "numbered": "map<long long, string>", "set": "set<long long>", "maybe": "optional<int>",
        "pair": "pair<int, string>", "triple": "tuple<int, double, bool>", "array": "array<int, 3>",
        "pairs": "vector<pair<int, string>>", "list_node": "ListNode*", "tree_node": "TreeNode*", "i128": "__int128",
    },
    "java": {
        "i8": "byte", "i32": "int", "i64": "long", "u64": "BigInteger", "i128": "BigInteger", "f64": "double",
        "f32": "float", "bool": "boolean", "str": "String", "char": "char", "ints": "int[]",
        "longs": "List<List<Long>>", "strs": "List<String>", "floats": "double[]", "bools": "boolean[]",
        "board": "char[][]", "named": "Map<String, Integer>", "numbered": "TreeMap<Long, String>", "set": "Set<Long>",
        "maybe": "Integer", **_NODES,
    },
    "rust": {
        "i8": "i8", "i32": "i32", "i64": "i64", "u64": "u64", "i128": "i128", "f64": "f64", "f32": "f32",
        "bool": "bool", "str": "&'static str", "char": "char", "ints": "Vec<i32>", "longs": "Vec<Vec<i64>>",
        "strs": "Vec<String>", "floats": "&'static [f64]", "bools": "Vec<bool>", "board": "Vec<Vec<char>>",
        "named": "HashMap<String, i32>", "numbered": "BTreeMap<i64, String>", "set": "HashSet<i64>",
        "maybe": "Option<i32>", "pair": "(i32, String)", "triple": "(i32, f64, bool)", "array": "[i32; 3]",
        "pairs": "Vec<(i32, String)>", "list_node": "Option<Box<ListNode>>",
        "tree_node": "Option<Rc<RefCell<TreeNode>>>",
    },
    "go": {
        "i8": "int8", "i32": "int32", "i64": "int64", "u64": "uint64", "f64": "float64", "f32": "float32",
        "bool": "bool", "str": "string", "char": "rune", "ints": "[]int", "longs": "[][]int64", "strs": "[]string",
        "floats": "[]float64", "bools": "[]bool", "board": "[][]byte", "named": "map[string]int",
        "numbered": "map[int64]string", "set": "map[int64]struct{}", "maybe": "*int", "array": "[3]int",
        "list_node": "*ListNode", "tree_node": "*TreeNode",
    },
    "typescript": {
        "i32": "number", "i64": "bigint", "u64": "bigint", "i128": "bigint", "f64": "number", "bool": "boolean",
        "str": "string", "char": "string", "ints": "number[]", "longs": "bigint[][]", "strs": "Array<string>",
        "floats": "readonly number[]", "bools": "boolean[]", "board": "string[][]",
        "named": "{ [key: string]: number }", "numbered": "Map<bigint, string>", "set": "Set<bigint>",
        "maybe": "number | null", "pair": "[number, string]", "triple": "[number, number, boolean]",
        "pairs": "[number, string][]", "list_node": "ListNode | null", "tree_node": "TreeNode | null",
    },
}  # fmt: skip
#: JavaScript has no types but those of the comment before a function.
TYPES["javascript"] = {
    **{kind: "*" for kind in TYPES["typescript"] if kind not in ("i64", "longs")},
    "numbered": "Map<bigint, string>", "i64": "bigint", "longs": "bigint[][]",
    "list_node": "ListNode", "tree_node": "?TreeNode", "pair": "[number, string]",
    "triple": "[number, number, boolean]", "pairs": "[number, string][]",
}  # fmt: skip

_HEADS = {"rust": "use std::{cell::RefCell, rc::Rc, collections::*};\n", "java": "class Solution {\n"}
_TAILS = {"java": "}\n"}
_IDENTITIES = {
    "cpp": "decay_t<{type}> id_{kind}({type} x) {{ return x; }}\n",
    "java": "    public {type} id_{kind}({type} x) {{ return x; }}\n",
    "rust": "fn id_{kind}(x: {type}) -> {type} {{ x }}\n",
    "go": "func id_{kind}(x {type}) {type} {{ return x }}\n",
    "typescript": "function id_{kind}(x: {type}): {type} {{ return x; }}\n",
    "javascript": "/**\n * @param {{{type}}} x\n * @return {{{type}}}\n */\nvar id_{kind} = function(x) {{ return x; }};\n",
}


def identities(language: str) -> str:
    """Return a program with a function for each type, which returns its argument."""
    each = "".join(_IDENTITIES[language].format(kind=kind, type=name) for kind, name in TYPES[language].items())
    return _HEADS.get(language, "") + each + _TAILS.get(language, "")


def case(kind: str, value: Any) -> dict[str, Any]:
    """Return the test that the identity of a type returns the value."""
    return {"call": f"id_{kind}", "args_repr": f"[{value!r}]", "expect_repr": repr(value)}


_scalar = st.characters(exclude_categories=["Cs"])
#: With halves of surrogate pairs, which Python's texts may hold too.
_any_character = st.characters() | st.characters(categories=["Cs"])
_ints = st.integers(-(2**31), 2**31 - 1)
_longs = st.integers(-(2**63), 2**63 - 1)
_floats = st.floats(allow_nan=False)


def _texts(language: str) -> st.SearchStrategy[str]:
    return st.text(_scalar if language == "rust" else _any_character, max_size=20)


def _characters(language: str) -> st.SearchStrategy[str]:
    """Return characters of the language's own type for them: a byte, half of a pair in UTF-16, or any."""
    most = {"cpp": 0x7F, "java": 0xFFFF}.get(language)
    return st.characters(max_codepoint=most, exclude_categories=["Cs"])


def _trees(values: st.SearchStrategy[int]) -> st.SearchStrategy[list[int | None]]:
    """Return trees level by level: of a root, and of children for every node that is there, the last of which is."""

    @st.composite
    def tree(draw: st.DrawFn) -> list[int | None]:
        levels: list[int | None] = []
        open_places = 1
        items = [draw(values), *draw(st.lists(values | st.none(), max_size=12))]
        for item in items if draw(st.booleans()) else []:
            if open_places == 0:
                break
            levels.append(item)
            open_places += 1 if item is not None else -1
        while levels and levels[-1] is None:
            levels.pop()
        return levels

    return tree()


def strategies(language: str) -> dict[str, st.SearchStrategy[Any]]:
    """Return the values of each type that the language has."""
    texts, letters = _texts(language), _characters(language)
    boards = st.characters(max_codepoint=0x7F)
    found: dict[str, st.SearchStrategy[Any]] = {
        "i8": st.integers(-128, 127), "i32": _ints, "i64": _longs, "u64": st.integers(0, 2**64 - 1),
        "i128": st.integers(-(2**127), 2**127 - 1), "f64": _floats, "f32": st.floats(width=32, allow_nan=False),
        "bool": st.booleans(), "str": texts, "char": letters, "ints": st.lists(_ints, max_size=20),
        "longs": st.lists(st.lists(_longs, max_size=6), max_size=5), "strs": st.lists(texts, max_size=6),
        "floats": st.lists(_floats, max_size=10), "bools": st.lists(st.booleans(), max_size=10),
        "board": st.lists(st.lists(boards, max_size=4), max_size=4),
        "named": st.dictionaries(texts, _ints, max_size=5), "numbered": st.dictionaries(_longs, texts, max_size=5),
        "set": st.frozensets(_longs, max_size=8).map(set), "maybe": _ints | st.none(), "pair": st.tuples(_ints, texts),
        "triple": st.tuples(_ints, _floats, st.booleans()), "array": st.lists(_ints, min_size=3, max_size=3),
        "pairs": st.lists(st.tuples(_ints, texts), max_size=4), "list_node": st.lists(_ints, max_size=10),
        "tree_node": _trees(_ints),
    }  # fmt: skip
    return {kind: found[kind] for kind in TYPES[language]}


#: Values at the ends of each type, and ones that break decoders.
EDGES: dict[str, list[Any]] = {
    "i8": [-128, 127], "i32": [-(2**31), 0, 2**31 - 1], "i64": [-(2**63), 2**53 + 1, 2**63 - 1],
    "u64": [0, 2**63, 2**64 - 1], "i128": [-(2**127), 2**63, 2**127 - 1], "bool": [True, False],
    "f64": [5e-324, 1.7976931348623157e308, 0.1 + 0.2, math.inf, -math.inf, 2.0**60],
    "f32": [0.5, 3.4028234663852886e38, math.inf],
    "str": ["", "\0", "é\u4e2d\U0001f600", "\"'\\\n\r\t\x1b", "%s${x}`", "\ufffd\ufeff\u2028", "x" * 70_000],
    "char": ["a", "\0", "\"", "\\"], "ints": [[], [1], [1, 2, 3], list(range(5000))],
    "longs": [[], [[]], [[1], [], [2**62, -(2**62), 3, 4, 5]]], "strs": [[], ["", "a\0b"]],
    "floats": [[], [0.1, math.inf, -1e300, 2.5, 1e16]], "bools": [[], [True, False, True]],
    "board": [[], [["a", "."], ["\\", '"']]], "named": [{}, {"": 0, "a": -1, "__proto__": 2}],
    "numbered": [{}, {-(2**63): "least", 2**63 - 1: ""}], "set": [set(), {1, 2, 3, 2**62}], "maybe": [None, 0, -1],
    "pair": [(0, ""), (-1, "\0")], "triple": [(1, 0.5, True)], "array": [[1, 2, 3]], "pairs": [[], [(1, "a"), (2, "b")]],
    "list_node": [[], [1], [3, 2, 1], list(range(3000))],
    "tree_node": [[], [1], [1, None, 2], [1, 2, 3, None, None, 4, 5], [1, 2, None, 3, None, 4, None, 5]],
}  # fmt: skip
