"""The case process: runs the program once, on real descriptors, and ends as a script would."""

from __future__ import annotations

import builtins
import gc
import io
import linecache
import mmap
import os
import struct
import sys
import time
from types import CodeType
from typing import Any, NoReturn

from scalebox.core import values
from scalebox.sandbox.agent import confine

FRAME = struct.Struct("<IIBff")  # length of what follows, index of the case, status, CPU seconds, wall seconds
VALUE, TOO_LARGE = 0, 3
_NOTE = struct.Struct("<I")
_FLUSH_SECONDS = 0.002
REHEARSAL_FD = 900
_ALL_FDS = 65536


class Quitter:
    """`exit` and `quit`, which the site module would have given."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return "Use %s() or Ctrl-D (i.e. EOF) to exit" % self._name

    def __call__(self, code: object = None) -> NoReturn:
        try:
            sys.stdin.close()
        except Exception:  # noqa: S110 - as site.Quitter does
            pass
        raise SystemExit(code)


def add_site_builtins() -> None:
    vars(builtins).update(quit=Quitter("quit"), exit=Quitter("exit"))


def make_streams() -> None:
    """Build stdin, stdout and stderr over descriptors 0, 1 and 2, which must be pipes now and in every case."""
    files = [io.FileIO(number, mode, False) for number, mode in enumerate(("rb", "wb", "wb"))]
    for file, name in zip(files, ("<stdin>", "<stdout>", "<stderr>")):
        vars(file)["name"] = name
    # As the interpreter has it, no line end of the input is changed but on Windows: "\r" is a character of the line.
    stdin = io.TextIOWrapper(io.BufferedReader(files[0]), "utf-8", "surrogateescape", "\n")
    stdout = io.TextIOWrapper(io.BufferedWriter(files[1]), "utf-8", "surrogateescape", "\n")
    stderr = io.TextIOWrapper(io.BufferedWriter(files[2]), "utf-8", "backslashreplace", "\n", True)
    for stream, mode in ((stdin, "r"), (stdout, "w"), (stderr, "w")):
        vars(stream)["mode"] = mode  # programs that wrap their streams look at it
    vars(sys).update(stdin=stdin, stdout=stdout, stderr=stderr, __stdin__=stdin, __stdout__=stdout, __stderr__=stderr)


def enter(fds: list[int], guard: confine.Filter | None, rehearsal: bool, user: int = 0) -> None:
    """Become the case's process: own process group, its descriptors and no other, and the filter `guard`, if any.

    With `user` it is another one's, who cannot look into the processes above it.

    A rehearsal, in the agent, does the same without effect: on other descriptors, and none closed.
    """
    base = REHEARSAL_FD if rehearsal else 0
    if not rehearsal:
        os.setpgid(0, 0)
    for number, fd in enumerate(fds):
        os.dup2(fd, base + number)
    os.closerange(base + len(fds), base + 10 if rehearsal else _ALL_FDS)
    if user and not rehearsal:
        confine.become(user)
    confine.set_dumpable(not rehearsal)
    if guard is not None:
        guard.patch({"self": os.getpid(), "parent": os.getppid()})
        guard.install(rehearsal)


def write_files(files: dict[str, bytes]) -> None:
    for name, text in files.items():
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(text)


def seed(number: int) -> None:
    """Seed the generators that are loaded, so that cases differ and runs do not."""
    module = sys.modules.get("random")
    if module is not None:
        module.seed(number)
    module = sys.modules.get("numpy.random")
    if module is not None:
        module.seed(number & 0xFFFFFFFF)


def new_main(name: str) -> dict[str, Any]:
    module = type(sys)(name)
    module.__dict__.update({"__builtins__": builtins, "__file__": "solution.py", "__spec__": None})
    sys.modules[name] = module
    return module.__dict__


def show_source(source: bytes) -> None:
    """Have tracebacks and `inspect` find the lines of the program, which is no file in the jail."""
    lines = source.decode("utf-8", "replace").splitlines(True)
    linecache.cache["solution.py"] = (len(source), None, lines, "solution.py")


def finish(status: int, main: list[dict[str, Any]], collect: bool) -> int:
    """End as the interpreter would: join threads, run exit handlers, drop the module, flush; return the exit code.

    `main` is the module's namespace, which nothing else of ours may hold where it is to be collected.
    """
    try:
        threading = sys.modules.get("threading")
        # Most programs start no thread; then there is nothing to join, and no page to dirty for it.
        if threading is not None and (len(threading._active) > 1 or getattr(threading, "_threading_atexits", True)):
            threading._shutdown()
        atexit = sys.modules.get("atexit")
        if atexit is not None and atexit._ncallbacks():
            atexit._run_exitfuncs()
    except BaseException as error:
        report(error)
    status = flush(status)
    if collect:
        # Files that the program opened over its descriptors write their buffers when they die.
        _let_die(main)
        flush(status)
        confine.flush_c_streams()
    return status


def _let_die(main: list[dict[str, Any]]) -> None:
    """Let the objects of the program die as when an interpreter ends: their finalisers still find its variables.

    So what nobody holds any more is collected as a whole, and only what is held beyond that loses its variables first.
    The collection before that brings what holds before what is held, as finalisers have to come: files before buffers.
    """
    gc.collect()
    vars(sys).update({name: getattr(sys, "__%s__" % name, None) for name in ("stdin", "stdout", "stderr")})
    spaces = {id(main[0])}
    try:
        spaces.update(id(vars(sys.modules.pop(name))) for name in _own_modules())
    except Exception:  # noqa: S110 - the program has put something else in their place
        pass
    main.clear()
    gc.collect()
    held = [one for one in gc.get_objects() if id(one) in spaces and type(one) is dict]
    for space in held:
        space.clear()
    if held:
        gc.collect()


def _own_modules() -> list[str]:
    """Return the names of the modules that are files of the program, and of the program itself."""
    folder, names = os.path.join(os.getcwd(), ""), []
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.normpath(folder + file if file[:1] != "/" else file).startswith(folder):
            names.append(name)
    return names


def flush(status: int) -> int:
    """Write what the standard streams hold; return the exit code, which is 120 where that fails and it was 0."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:
            status = status or 120
    try:
        # A program that has put another stream in its place may have left text in the first one.
        original: Any = sys.__stdout__
        original.flush()
    except BaseException:  # noqa: S110 - gone, closed or detached: as in the interpreter, where nobody would hear of it
        pass
    return status


def report(error: BaseException) -> None:
    """Print the traceback of an uncaught exception, without the frames of this file."""
    hook = sys.excepthook
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith("<scalebox."):
        trace = trace.tb_next
    try:
        if hook is sys.__excepthook__:
            import traceback

            traceback.print_exception(type(error), error, trace)
        else:
            hook(type(error), error, trace)
    except BaseException:  # noqa: S110 - a report that cannot be made changes no verdict
        pass


def note(board: mmap.mmap, error: BaseException) -> None:
    """Leave the terminating exception's class, errno and file for the compile process to pass on."""
    kind = type(error)
    number = error.errno if isinstance(error, OSError) and type(error.errno) is int else 0
    name = error.filename if isinstance(error, OSError) and isinstance(error.filename, (str, bytes)) else ""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    bases = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
    data = values.encode((kind.__name__, bases[:1], number, text[:500]))
    if len(data) <= len(board) - 4:
        board[0 : 4 + len(data)] = _NOTE.pack(len(data)) + data


def exit_status(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        print(code, file=sys.stderr)
    except Exception:  # noqa: S110 - as the interpreter does
        pass
    return 1


def _modules(namespace: dict[str, Any], name: str, collect: bool) -> list[dict[str, Any]]:
    """Return the namespace to run in, alone in a list: a new one where the collector has to find it."""
    return [new_main(name) if collect else namespace]


def run_script(code: CodeType, namespace: dict[str, Any], collect: bool, board: mmap.mmap) -> int:
    """Run the program as `__main__`; return the exit code."""
    main = _modules(namespace, "__main__", collect)
    try:
        exec(code, main[0])  # noqa: S102 - this is the program under test, in its jail
        status = 0
    except SystemExit as error:
        status = exit_status(error)
    except BaseException as error:
        note(board, error)
        report(error)
        status = 1
    return finish(status, main, collect)


def resolve(namespace: dict[str, Any], path: str) -> Any:
    """Return the callable that `path` names: `f`, `Class.method`, `Class().method`; a lone method of `Solution`."""
    head, _, rest = path.partition(".")
    made = head.endswith("()")
    target = namespace.get(head[:-2] if made else head)
    if target is None and not rest and "Solution" in namespace:
        return getattr(namespace["Solution"](), head)
    if target is None:
        raise NameError("the program defines no %r" % head)
    if made or (rest and isinstance(target, type) and not _is_static(target, rest)):
        target = target()
    for name in rest.split(".") if rest else ():
        target = getattr(target, name)
    return target


def _is_static(kind: type, name: str) -> bool:
    return isinstance(kind.__dict__.get(name), (staticmethod, classmethod))


def run_calls(
    code: CodeType,
    namespace: dict[str, Any],
    calls: list[tuple[int, str, bytes]],
    options: dict[str, Any],
    board: mmap.mmap,
) -> int:
    """Run the program's module, then the calls one after another, a frame each; return the exit code.

    `calls` is a list of (index, name, encoded (args, kwargs)). More than one call is made only for programs
    that are proved to keep no state between calls.
    """
    out = _Frames(options["frame_fd"], options["value_bytes"])
    main = _modules(namespace, "solution", options["collect"])
    try:
        start = time.perf_counter(), time.process_time()
        exec(code, main[0])  # noqa: S102 - as above
        for index, name, arguments in calls:
            args, kwargs = values.decode(arguments, 1 << 30, 1e9)
            target = resolve(main[0], name)
            data = values.encode(target(*args, **kwargs))
            now = time.perf_counter(), time.process_time()
            out.put(index, VALUE, data, now[1] - start[1], now[0] - start[0])
            start = now
        status = 0
    except SystemExit as error:
        status = exit_status(error)
    except BaseException as error:
        note(board, error)
        report(error)
        status = 1
    out.flush()
    target = None
    return finish(status, main, options["collect"])


class _Frames:
    """Frames on their way out, written in few system calls but never held back long."""

    def __init__(self, fd: int, value_bytes: int) -> None:
        self._fd = fd
        self._parts: list[bytes] = []
        self._since = time.perf_counter()
        self._most = value_bytes

    def put(self, index: int, status: int, data: bytes, cpu: float, wall: float) -> None:
        if len(data) > self._most:
            status, data = TOO_LARGE, b""
        self._parts.append(FRAME.pack(len(data) + FRAME.size - 4, index, status, cpu, wall) + data)
        if time.perf_counter() - self._since > _FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        data = b"".join(self._parts)
        self._parts = []
        self._since = time.perf_counter()
        while data:
            data = data[os.write(self._fd, data) :]
