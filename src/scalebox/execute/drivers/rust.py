"""Rust: the program is a module of the driver's crate, with the calls in a module of its own behind its text.

The types of a function are the compiler's to infer: an argument is whatever the function takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scalebox.execute.drivers import Driven, signature, support
from scalebox.languages.language import Language

LANGUAGES = ("rust",)

_LIST_NODE = """
#[derive(PartialEq, Eq, Clone, Debug)]
pub struct ListNode { pub val: i32, pub next: Option<Box<ListNode>> }
impl ListNode { #[inline] pub fn new(val: i32) -> Self { ListNode { next: None, val } } }
"""
_TREE_NODE = """
#[derive(Debug, PartialEq, Eq)]
pub struct TreeNode {
    pub val: i32, pub left: Option<std::rc::Rc<std::cell::RefCell<TreeNode>>>,
    pub right: Option<std::rc::Rc<std::cell::RefCell<TreeNode>>>,
}
impl TreeNode { #[inline] pub fn new(val: i32) -> Self { TreeNode { val, left: None, right: None } } }
"""
_NODES = {"ListNode": _LIST_NODE, "TreeNode": _TREE_NODE}
_ERROR = r"^(?:solution\.rs:(?P<line>\d+):\d+: |[^\n:]+:\d+:\d+: )?error(?:\[\w+\])?: (?P<message>.*)$"


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver."""
    found = signature.functions(source)
    chosen = [signature.choose(found, call)[0] for call in calls]
    behind = [text for name, text in _NODES.items() if _lacks(source, name)]
    if any(one.owner == "Solution" for one in chosen) and _lacks(source, "Solution"):
        behind.append("pub struct Solution;")
    behind += ["pub mod scalebox_calls {", "    use super::*;", "    use crate::scalebox_driver as driver;"]
    behind += [f"    driver::{_macro(name)}!({name});" for name in _NODES if signature.mentions(source, name)]
    behind += ["    pub const CALLS: &[fn(&driver::Given) -> driver::Answer] = &["]
    behind += [f"        |given| {{ {_call(one)} }}," for one in chosen]
    behind += ["    ];", "}", ""]
    files = {
        "solution.rs": source + "\n" + "\n".join(behind),
        "scalebox_driver.rs": support("driver.rs"),
        "scalebox_main.rs": (
            "#[macro_use] mod scalebox_driver;\nmod solution;\n"
            "fn main() { scalebox_driver::answer(solution::scalebox_calls::CALLS) }\n"
        ),
    }
    encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    return Driven(msgspec.structs.replace(language, error=_ERROR), encoded, {"source": "scalebox_main.rs"})


def _lacks(source: str, name: str) -> bool:
    return signature.mentions(source, name) and not signature.declares(source, name, unit=True)


def _macro(node: str) -> str:
    return {"ListNode": "list_node", "TreeNode": "tree_node"}[node]


def _call(one: signature.Function) -> str:
    """Return what calls the function: with as many arguments as it takes, of the types that it takes."""
    receiver = one.parameters[0] if one.parameters and one.parameters[0][-1] == "self" else ()
    count = len(one.parameters) - bool(receiver)
    owner = "::".join(filter(None, ["super", *one.owner.split(".")]))
    arguments = [f"driver::arg(given, {number})?" for number in range(count)]
    if receiver:
        arguments.insert(0, f"&mut {owner} {{}}" if receiver[0] == "&" else f"{owner} {{}}")
    return f"driver::takes(given, {count})?; driver::Sent::send({owner}::{one.name}({', '.join(arguments)}))"
