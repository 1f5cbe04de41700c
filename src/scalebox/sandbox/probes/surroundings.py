"""What a program is born with: three descriptors, an environment of its own, and nothing of ours."""

from __future__ import annotations

from scalebox.sandbox.probes.scene import Broken, Probe, Scene, refused, told

_DESCRIPTORS = """
import stat
for fd in range(4096):
    try:
        status = os.fstat(fd)
    except OSError:
        continue
    look("descriptor %d" % fd, fd > 2)
    if fd <= 2:
        look("descriptor %d is more than a pipe" % fd, JAILED and not stat.S_ISFIFO(status.st_mode))
"""

_ENVIRONMENT = """
known = {"PATH", "LANG", "LC_CTYPE", "HOME", "TMPDIR", "PYTHONHASHSEED", "PYTHONUTF8", "OPENBLAS_NUM_THREADS",
         "OMP_NUM_THREADS", "MKL_NUM_THREADS"}
look("variable of the host", HOST["variable"] in os.environ)
look("unknown variables", set(os.environ) - known) if JAILED else None
look("arguments", sys.argv[1:])
for name, word in (("environ", HOST["variable"]), ("cmdline", HOST["folder"])):
    try:
        with open("/proc/self/" + name, "rb") as file:
            text = file.read()
    except OSError:
        text = b""
    look("the host's in /proc/self/" + name, word.encode() in text)
"""

_OURS = """
import gc
names = [name for name in sys.modules if "scalebox" in name.lower()]
look("modules of ours", names)
held = [type(item) for item in gc.get_objects() if isinstance(item, dict) and "expect" in item]
look("dictionaries with expected values", held)
"""


def _check_environment(scene: Scene) -> str:
    words = told(scene.run(_ENVIRONMENT).stdout)
    found = [name for name, word in words.items() if word.startswith("done")]
    if found:
        raise Broken(f"seen: {', '.join(found)}")
    with scene.host.canary_in_environment():
        shown = scene.outside(_ENVIRONMENT).count(b": done")
    return f"{len(words)} places looked at; outside the jail, {shown} of them show the host's"


def _check_descriptors(scene: Scene) -> str:
    seen = refused(_DESCRIPTORS, control=False)(scene)
    with open("/dev/null", "rb") as canary:
        shown = scene.outside(_DESCRIPTORS, pass_fds=[canary.fileno()]).count(b": done")
    return f"{seen}; the control sees {shown} that it was given"


PROBES = (
    Probe(
        name="surroundings.descriptors",
        promise="A program has its three standard streams, which are pipes, and no other descriptor.",
        check=_check_descriptors,
    ),
    Probe(
        name="surroundings.environment",
        promise="Nothing of the host's environment or command line is visible.",
        check=_check_environment,
    ),
    Probe(
        name="surroundings.ours",
        promise="No module of ours is among the loaded ones, and no expected value is in the process.",
        check=refused(_OURS, control=False),
    ),
)
