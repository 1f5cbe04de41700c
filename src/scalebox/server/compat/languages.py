"""What other sandboxes call languages, and what that is here."""

from __future__ import annotations

from scalebox.languages import registry
from scalebox.languages.language import Language

#: The names of SandboxFusion, in its order; those without a counterpart here have none.
FUSION: dict[str, str | None] = {
    "python": "python", "cpp": "cpp", "nodejs": "javascript", "go": "go", "go_test": "go", "java": "java",
    "php": "php", "csharp": "csharp", "bash": "bash", "typescript": "typescript-transpile", "sql": "sql",
    "rust": "rust", "cuda": None, "lua": "lua", "R": "r", "perl": "perl", "D_ut": "d-unittest", "ruby": "ruby",
    "scala": "scala", "julia": "julia", "pytest": "python", "junit": None, "kotlin_script": "kotlin-script",
    "jest": None, "verilog": "verilog", "python_gpu": None, "lean": "lean", "swift": "swift", "racket": "racket",
}  # fmt: skip


def known(name: str) -> bool:
    """Return whether SandboxFusion knows a language by this name, or we do."""
    return name in FUSION or registry.find(name) is not None


def ours(name: str) -> Language | None:
    """Return the language that a name of SandboxFusion, or one of ours, stands for; None where there is none."""
    return registry.find(FUSION.get(name, name) or "")


def compiled(language: Language) -> bool:
    """Return whether a program is built before it is run, so that its answer has a compile result."""
    return bool(language.keep)
