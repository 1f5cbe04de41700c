"""The solution's process of the tests here: `python child.py FD < SOURCE`."""

from __future__ import annotations

import os
import sys
import types

from scalebox.execute.separate.serve import serve


def main() -> int:
    source = sys.stdin.buffer.read()
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    sys.stdin = open(os.devnull)  # noqa: SIM115
    return serve(int(sys.argv[1]), compile(source, "solution.py", "exec"), vars(module))


if __name__ == "__main__":
    os._exit(main())
