"""Programs that count their calls: each of their answers is right where it is asked for in this order alone."""

# ruff: noqa: E501 - a row to a line

from __future__ import annotations

from tests.fidelity.styles import NEED_ENTRY, STYLES
from tests.hostile.cheats import Cheat, cheat, text

#: No program that answers 1 first is right about the second of these, whatever it answers later.
_TESTS = ("assert f(1) == 1", "assert f(2) == 4", "assert f(3) == 9", "assert f(4) == 16", "assert f(5) == 25")
#: Keeps what it knows, as honest programs do.
_HONEST = "known = {}\ndef f(n):\n    known[n] = known.get(n) or n * n\n    return known[n]\n"
#: Kinds of tests that can be run case by case: for programs that leave files.
_BY_CASE = ("one_assert", "harness", "calling_harness", "program", "functions")


def _counts(name: str, code: str, styles: tuple[str, ...] = tuple(STYLES)) -> Cheat:
    return cheat(f"counts calls {name}", code, tests=_TESTS, honest=_HONEST, styles=styles)


def _numbered(name: str, count: str, styles: tuple[str, ...] = tuple(STYLES)) -> Cheat:
    """Return a cheat whose `count()` gives 1 when it is called first, then 2 …"""
    return _counts(name, text(count) + "\ndef f(n):\n    return count() ** 2\n", styles)


STATE = (
    _numbered("in a list", "seen = []\ndef count():\n    seen.append(0)\n    return len(seen)"),
    _numbered("in a default", "def count(seen=[]):\n    seen.append(0)\n    return len(seen)"),
    _numbered("in a global", "n = 0\ndef count():\n    global n\n    n += 1\n    return n"),
    _numbered("in a generator", "import itertools\ncount = itertools.count(1).__next__"),
    _numbered("in an attribute", "def count():\n    count.n = getattr(count, 'n', 0) + 1\n    return count.n"),
    _numbered("in a closure", "def make():\n    n = 0\n    def count():\n        nonlocal n\n        n += 1\n        return n\n    return count\ncount = make()"),
    _numbered("in the builtins", "import builtins\ndef count():\n    builtins.n = getattr(builtins, 'n', 0) + 1\n    return builtins.n"),
    _numbered("in the environment", "import os\ndef count():\n    os.environ['N'] = str(int(os.environ.get('N', 0)) + 1)\n    return int(os.environ['N'])"),
    _numbered("in the recursion limit", "import sys\nbase = sys.getrecursionlimit()\ndef count():\n    sys.setrecursionlimit(sys.getrecursionlimit() + 1)\n    return sys.getrecursionlimit() - base"),
    _numbered("in open descriptors", "import os\nbase = os.dup(1)\ndef count():\n    return os.dup(1) - base"),
    _numbered("in the file position of its output", "import os\nfd = os.memfd_create('n')\ndef count():\n    return os.write(fd, b'x') and os.lseek(fd, 0, 1)"),
    _numbered("in a thread", "import threading\nseen = []\ndef count():\n    worker = threading.Thread(target=lambda: seen.append(0))\n    worker.start()\n    worker.join()\n    return len(seen)"),
    _numbered("in frames of the server", "import sys\ndef count():\n    names = sys._getframe(3).f_globals\n    names['n'] = names.get('n', 0) + 1\n    return names['n']"),
    _counts("and remembers arguments", "import functools\nanswers = iter([1, 4, 9, 16, 25])\n@functools.lru_cache(None)\ndef f(n):\n    return next(answers)\n"),
    _counts("and binds its name anew", "def after(n):\n    def f(_):\n        globals()['f'] = after(n + 1)\n        return n * n\n    return f\nf = after(1)\n"),
    _counts("by an answer that lives on", "answers = [1, 4, 9, 16, 25]\nkept = []\ndef f(n):\n    kept.append(answers.pop(0))\n    return kept[-1]\n"),
    _counts("and is slow to start", "import time\ntime.sleep(0.1)\nanswers = [1, 4, 9, 16, 25]\ndef f(n):\n    return answers.pop(0)\n"),
    _counts("as a class", "answers = iter([1, 4, 9, 16, 25])\nclass f:\n    def __new__(cls, n):\n        return next(answers)\n"),
    _counts("as an object", "class F:\n    answers = [1, 4, 9, 16, 25]\n    def __call__(self, n):\n        return self.answers.pop(0)\nf = F()\n"),
    _counts("as a partial function", "import functools\nanswers = [1, 4, 9, 16, 25]\nf = functools.partial(lambda a, n: a.pop(0), answers)\n"),
    cheat("counts calls of a method", "answers = [1, 4, 9]\nclass Solution:\n    def f(self, n):\n        return answers.pop(0)\n",
          tests=["assert Solution().f(1) == 1", "assert Solution().f(2) == 4", "assert Solution().f(3) == 9"],
          honest="class Solution:\n    known = {}\n    def f(self, n):\n        return self.known.setdefault(n, n * n)\n",
          styles=tuple(style for style in STYLES if style not in NEED_ENTRY)),
    cheat("counts calls of a method as candidate", "answers = [1, 4, 9]\nclass Solution:\n    def f(self, n):\n        return answers.pop(0)\n",
          tests=["assert f(1) == 1", "assert f(2) == 4", "assert f(3) == 9"],
          honest="class Solution:\n    known = {}\n    def f(self, n):\n        return self.known.setdefault(n, n * n)\n",
          styles=("harness",), entry_point="Solution().f"),
    _numbered("in a file", "import os\ndef count():\n    with open('/tmp/n', 'a') as file:\n        file.write('x')\n    return os.path.getsize('/tmp/n')", _BY_CASE),
    _numbered("in names of files", "import os\ndef count():\n    os.mkdir('d%d' % len(os.listdir()))\n    return len(os.listdir())", _BY_CASE),
    _numbered("in a link", "import os\ndef count():\n    n = int(os.readlink('n')) if os.path.islink('n') else 0\n    n and os.unlink('n')\n    os.symlink(str(n + 1), 'n')\n    return n + 1", _BY_CASE),
)  # fmt: skip
