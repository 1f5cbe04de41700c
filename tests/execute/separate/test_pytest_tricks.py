"""What solutions try to pass a pytest suite with, beside solving its problem."""

from __future__ import annotations

import pytest
from tests.execute.separate.suites import IDS, RIGHT, TEST, WRONG, suite

TRIES = {
    "exits at import": "import os\nos._exit(0)\n",
    "leaves at import": "raise SystemExit(0)\n",
    "forges a summary": "import os\nprint('test_f.py ..  [100%]\\n2 passed in 0.01s')\n"
    "os.write(1, b'2 passed')\nos._exit(0)\n",
    "exits in a call": "import os\ndef f(x):\n    os._exit(0)\n",
    "dies in a call": "import os, signal\ndef f(x):\n    os.kill(os.getpid(), signal.SIGKILL)\n",
    "leaves in a call": "import sys\ndef f(x):\n    sys.exit(0)\n",
    "interrupts": "def f(x):\n    raise KeyboardInterrupt\n",
    "skips": "import pytest\ndef f(x):\n    pytest.skip('nothing to see')\n",
    "skips by unittest": "import unittest\ndef f(x):\n    raise unittest.SkipTest('nothing')\n",
    "ends pytest": "import pytest\ndef f(x):\n    pytest.exit('fine', returncode=0)\n",
    "expects to fail": "import pytest\ndef f(x):\n    pytest.xfail('known')\n",
    "is equal to all": "class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\n"
    "def f(x):\n    return E()\n",
    "is equal to all, plainly": "class E:\n    def __eq__(s, o): return True\n    def __bool__(s): return True\n"
    "def f(x):\n    return E()\n",
    "patches the runner": "import _pytest.python as p\np.Function.runtest = lambda self: None\n" + WRONG,
    "patches tests": "import sys\ndef f(x):\n    for m in list(sys.modules.values()):\n"
    "        for k in list(vars(m)):\n"
    "            if k.startswith('test_'): setattr(m, k, lambda: None)\n    return x\n",
    "patches builtins": "import builtins\nbuiltins.AssertionError = ValueError\nbuiltins.isinstance = lambda *a: True\n"
    + WRONG,
    "exits at the end": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "looks for the runner": "import os, sys\ndef f(x):\n"
    "    known = 'PYTEST_CURRENT_TEST' in os.environ or 'pytest' in sys.argv[0]\n"
    "    return x + 1 if known else x\n",
    "defines tests": "def test_f(): pass\ndef test_g(): pass\n" + WRONG,
    "never ends its module": "import threading, os\nthreading.Timer(0.2, os._exit, [0]).start()\nwhile True: pass\n",
}


def test_an_end_that_the_test_catches_is_no_pass() -> None:
    catches = (
        "import pytest\nfrom solution import f\ndef test_f():\n    with pytest.raises(BaseException):\n        f(-1)\n"
    )
    assert suite(RIGHT, catches, IDS[:1]).passed
    done = suite("import os\ndef f(x):\n    os._exit(0)\n", catches, IDS[:1])
    assert (done.statuses, done.reason) == (["running"], "solution ended")


@pytest.mark.parametrize("source", TRIES.values(), ids=TRIES)
def test_no_trick_passes(source: str) -> None:
    done = suite(source, TEST, IDS)
    assert "passed" not in done.statuses, done
    assert done.reason != "task", "the sample would be masked"


PLANTED = {
    "conftest.py": "def pytest_collection_modifyitems(items):\n    for item in items:\n"
    "        item.obj = lambda *a, **k: None\n",
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "setup.cfg": "[tool:pytest]\naddopts = --ignore=test_f.py\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    "sitecustomize.py": "import os\nos._exit(0)\n",
    "usercustomize.py": "import os\nos._exit(0)\n",
    "a.pth": "import os; os._exit(0)\n",
    "pytest.py": "def main(*a, **k): return 0\n",
    "helper.py": "TWO = 1\n",
    "json.py": "loads = lambda text: {'two': 1}\n",
    "statistics.py": "mean = lambda values: 1\n",
    "test_f.py": "def test_f(): pass\ndef test_g(): pass\n",
    "solution.py": "f = lambda x: x + 1\n",
}
LOOKS = (
    "import json, statistics\nfrom helper import TWO\nfrom solution import f\n\ndef test_f():\n"
    "    assert f(1) == TWO\n\n"
    "def test_g():\n    assert f(1) == json.loads('{\"two\": 2}')['two'] == statistics.mean([2, 2])\n"
)


@pytest.mark.parametrize("way", ["modules", "files", "written"])
def test_planted_files_are_not_seen(way: str) -> None:
    files = {"test_f.py": LOOKS, "helper.py": "TWO = 2\n"}
    source, others, modules = WRONG, {}, ["solution"]
    if way == "modules":
        modules += [name.partition(".")[0] for name in PLANTED if name.endswith(".py")]
    elif way == "files":
        others = PLANTED
    else:
        source = "".join(f"open({name!r}, 'w').write({text!r})\n" for name, text in PLANTED.items()) + WRONG
    assert suite(source, files, IDS, others=others, modules=modules).statuses == ["failed", "failed"]
    right = source.replace(WRONG, RIGHT)
    assert suite(right, files, IDS, others=others, modules=modules).passed


def test_a_suite_that_changes_while_it_runs_has_not_passed() -> None:
    # Nothing keeps this solution from the suite's folder, as a jail would.
    rewrite = (
        "import os\ndef f(x):\n    for folder, _, names in os.walk('..'):\n        for name in names:\n"
        "            if name == 'test_f.py':\n                path = os.path.join(folder, name)\n"
        "                os.chmod(path, 0o666)\n                open(path, 'a').close()\n    return x + 1\n"
    )
    done = suite(rewrite, TEST, IDS)
    assert done.statuses == ["error", "error"]
    assert "changed" in done.cases[0].detail
    more = rewrite.replace("path, 'a'", "os.path.join(folder, 'conftest.py'), 'w'").replace(
        "path, 0o666", "folder, 0o777"
    )
    assert suite(more, TEST, IDS).statuses == ["error", "error"]
