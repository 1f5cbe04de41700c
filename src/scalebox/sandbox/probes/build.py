"""The build step of probes, run inside the jail: compiles, and proves nothing. Python 3.8, standard library alone."""

from __future__ import annotations

from typing import Any


def build(source: bytes, filename: str, need_state: bool, calls: list[str]) -> dict[str, Any]:
    """Compile `source`; return what scalebox.sandbox.agent.bundle asks of a build step."""
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return {"ok": False, "message": str(error), "line": 0, "column": 0}
    why = f"no analysis of {len(calls)} calls" if need_state else "not asked for"
    return {"ok": True, "code": code, "imports": ["ctypes"], "threads": True, "stateless": False, "why": why}


def build_tests(tests: dict[str, Any]) -> dict[str, Any]:
    """Build nothing: what the process of the tests runs comes with each order."""
    return {"ok": True, "code": tests, "imports": ["ctypes"]}


def _run(code: Any, order: dict[str, Any], namespace: dict[str, Any]) -> int:
    """Run a script of a probe: on the solution's side the program, on the tests' side what the order brings.

    Descriptor 3 joins the two; on the tests' side 4 is the board and 5 takes frames.
    """
    exec(order.get("script") or code, namespace)  # noqa: S102 - a probe of our own
    return 0


ROLES: dict[str, Any] = {"run": _run}
