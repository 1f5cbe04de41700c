"""Source that runs inside a jail, under the sample's interpreter: standard library alone, Python 3.8 or later.

`bundle` joins these files with `core/values.py` and the build step into the one script that the agent is
started with; nothing of it lies on a disk that a program under test can read.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_AGENT = "scalebox.sandbox.agent.init"
#: What the agent itself imports.
_OWN = ("ast", "ctypes", "json", "marshal", "mmap", "resource", "struct", "typing", "warnings")
_ROOT = Path(__file__).parents[2]

#: What `python -c` is given: run the script that descriptor argv[1] holds.
BOOT = "import os,sys;f=open(int(sys.argv[1]),'rb');s=f.read();f.close();exec(compile(s,'<scalebox>','exec'))"

# What samples use is loaded first, so that the agent's own objects lie close together: every page that a case writes
# to is copied. Its modules are importable by name while they load, and by nobody afterwards. An agent that cannot
# start says why.
_LOADER = """
def _preload():
    # At-fork hooks would dirty pages in every child; reseeding, which they do, is done per case.
    register = os.register_at_fork
    os.register_at_fork = lambda **hooks: None
    sys.path[:] = CONFIG["path"]
    sys.dont_write_bytecode = True
    loaded = []
    for name in [*CONFIG["preload"], *OWN]:
        try:
            __import__(name)
            loaded.append(name)
        except Exception:  # not installed there, or broken: the program will see that itself
            continue
    os.register_at_fork = register
    return loaded

def _module(name):
    if name not in sys.modules:
        sys.modules[name] = module = type(sys)(name)
        module.__path__ = []
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(_module(parent), leaf, module)
    return sys.modules[name]

def _load():
    for name, text in SOURCES:
        exec(compile(text, "<" + name + ">", "exec", 0, True, 2), _module(name).__dict__)
    main = sys.modules["scalebox.sandbox.agent.init"].main
    builder = sys.modules[BUILDER]
    for name in [name for name in sys.modules if name.partition(".")[0] == "scalebox"]:
        del sys.modules[name]
    SOURCES.clear()
    return main, builder

try:
    _loaded = _preload()
    _main, _builder = _load()
    _main(CONFIG, _builder, _loaded)
except Exception:
    import json, struct, traceback
    s = json.dumps({"error": traceback.format_exc()[-4000:]}).encode()
    os.write(CONFIG["control_fd"], struct.pack("<I", len(s)) + s)
"""


@cache
def _sources(name: str) -> tuple[tuple[str, str], ...]:
    """Return the module and all of ScaleBox that it imports, as (name, text), in an order in which they can load."""
    path = Path(_ROOT, *name.split(".")[1:]).with_suffix(".py")
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "scalebox":
            for other in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                found.update(_sources(other))
    return (*found.items(), (name, text))


def source(name: str) -> str:
    """Return the text of one of these files."""
    return Path(__file__).with_name(name).with_suffix(".py").read_text(encoding="utf-8")


def modules(builder: str) -> list[str]:
    """Return the names of ScaleBox's modules that run inside the jail."""
    return list(dict((*_sources(builder), *_sources(_AGENT))))


def bundle(config: Mapping[str, Any], builder: str) -> bytes:
    """Return the agent's script: `config` is plain data, `builder` names the module of the language's build step.

    That has `build(source, filename, need_state, calls) -> dict`.
    """
    sources = list(dict((*_sources(builder), *_sources(_AGENT))).items())
    head = f"OWN = {_OWN!r}\nSOURCES = {sources!r}\nBUILDER = {builder!r}\nCONFIG = {dict(config)!r}\n"
    return (head + _LOADER).encode("utf-8", "surrogatepass")
