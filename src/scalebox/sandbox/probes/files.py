"""Files: nothing of the host is read or written, and scratch space is bounded and wiped."""

from __future__ import annotations

from scalebox.core.limits import MIB
from scalebox.sandbox.probes.scene import (
    LIMITS,
    Broken,
    Check,
    Probe,
    Scene,
    describe,
    finished,
    needs_namespaces,
    needs_our_kernel,
    refused,
    told,
)

_READS = """
import glob
def show(path):
    with open(path, "rb", 0) as file:
        os.write(1, file.read(4096))
folder = HOST["folder"]
for path in ("/etc/shadow", "/etc/gshadow", "/etc/ssh/sshd_config", "/proc/kcore", "/proc/kmsg", "/dev/mem",
             "/dev/kmsg", "/dev/sda", "/dev/vda", "/var/run/docker.sock", "/var/log/dmesg", "/root/.bashrc",
             HOST["home"] + "/.profile", HOST["home"] + "/.bash_history", HOST["home"] + "/.ssh/id_rsa"):
    if JAILED or os.access(path, os.R_OK):
        attempt("read " + path, show, path)
for way in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../..", "/dev/../.", "/proc/%d/cwd/../../.." %
            HOST["trainer"], "/proc/%d/root" % HOST["victim"], "/proc/%d/root" % HOST["trainer"]):
    attempt("read %s/…/secret" % way, show, way + folder + "/secret")
for name in ("environ", "cmdline", "maps", "mem", "stack", "io", "auxv", "smaps", "pagemap"):
    attempt("read %s of the victim" % name, show, "/proc/%d/%s" % (HOST["victim"], name))
    attempt("read %s of the trainer" % name, show, "/proc/%d/%s" % (HOST["trainer"], name))
attempt("list the host's folder", os.listdir, folder)
if JAILED:
    for path in ("/root", "/home", "/var", "/boot", "/mnt", "/run", "/sys", HOST["home"]):
        if not any(place.startswith(path + "/") for place in HOST["shown"]):
            attempt("list " + path, os.listdir, path)
"""

_STATUS = """
for path in ("", "/secret", "/open/target"):
    attempt("see the host's folder" + path, os.stat, HOST["folder"] + path)
attempt("enter the host's folder", os.chdir, HOST["folder"])
"""

_WRITES = """
def put(path, flags=os.O_WRONLY | os.O_CREAT):
    fd = os.open(path, flags)
    os.write(fd, b"x")
    os.close(fd)
folder = HOST["folder"]
attempt("write to a file", put, folder + "/open/target", os.O_WRONLY)
attempt("append to a file", put, folder + "/open/target", os.O_WRONLY | os.O_APPEND)
attempt("truncate a file", os.truncate, folder + "/open/target", 3)
attempt("make a file", put, folder + "/open/new")
attempt("make a nameless file", os.open, folder + "/open", os.O_RDWR | os.O_TMPFILE)
attempt("make a folder", os.mkdir, folder + "/open/folder") if JAILED else None
attempt("make a link", os.symlink, "/", folder + "/open/link")
attempt("make a hard link", os.link, folder + "/open/target", folder + "/open/hard")
attempt("make a fifo", os.mkfifo, folder + "/open/fifo")
attempt("rename a file", os.rename, folder + "/open/target", folder + "/open/renamed")
attempt("remove a file", os.unlink, folder + "/open/renamed")
if JAILED:
    for place in ("/", "/usr", "/usr/bin", "/usr/lib", "/lib", "/etc", "/bin", "/dev", "/proc", "/proc/sys/kernel",
                  "/sys", "/var/tmp", "/home", "/root", "/opt", "/mnt", "/run", "/box", "/proc/self/ns", sys.prefix,
                  os.path.dirname(os.__file__), os.path.dirname(sys.executable or "/usr/bin/x")):
        attempt("write in " + place, put, place + "/probe")
    for path in ("/etc/passwd", "/etc/hosts", "/etc/ld.so.cache", "/usr/bin/env", os.__file__, "/dev/full",
                 "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                 "/proc/1/oom_score_adj"):
        attempt("write to " + path, put, path, os.O_WRONLY)
"""

_METADATA = """
path = HOST["folder"] + "/secret"
for name, act in (("mode", lambda: os.chmod(path, 0o777)), ("times", lambda: os.utime(path)),
                  ("owner", lambda: os.chown(path, 65534, 65534)),
                  ("attributes", lambda: os.setxattr(path, "user.probe", b"x"))):
    try:
        act()
    except OSError:
        pass
"""

_LINKS = """
import contextlib, subprocess
target = HOST["folder"] + "/secret"
for place in SCRATCH:
    for name, act in (("to a file", lambda: os.symlink(target, place + "/to-a-file")),
                      ("to a folder", lambda: os.symlink(HOST["folder"], place + "/to-a-folder")),
                      ("to root", lambda: os.symlink("/", place + "/to-root")),
                      ("hard", lambda: os.link(target, place + "/hard"))):
        with contextlib.suppress(OSError):
            act()
with contextlib.suppress(OSError):
    os.chmod("to-a-file", 0)
with contextlib.suppress(OSError):
    os.utime("to-a-file")
def nest(name, depth):
    here = os.open(".", os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name)
        os.chdir(name)
    os.fchdir(here)
nest("d", 3000)
nest("n" * 255, 60)
os.mkdir("closed")
with open("closed/inside", "w") as file:
    file.write("x")
os.chmod("closed", 0)
os.mkdir("empty-closed", 0)
os.mkfifo("fifo")
os.mkfifo("fifo-closed", 0)
open("-rf", "w").close()
open("new\\nline", "w").close()
open(b"\\xff\\xfe", "w").close()
os.chmod(".", 0)
"""

_LOOK_AROUND = """
for place in SCRATCH:
    try:
        names = os.listdir(place)
    except OSError:
        names = []
    look("left-overs in " + place, names)
with open("usable", "w") as file:
    file.write("x")
"""

_FILL = """
written = 0
try:
    for number in range(200):
        with open(SCRATCH[number % len(SCRATCH)] + "/%d" % number, "wb", 0) as file:
            for _ in range(4):
                written += file.write(bytes(1 << 18))
except OSError as error:
    say("stopped", errno.errorcode[error.errno])
say("written", written)
"""

_FILL_INODES = """
made = 0
try:
    for number in range(100_000):
        os.close(os.open("%d" % number, os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    say("stopped", errno.errorcode[error.errno])
say("made", made)
"""

_ONE_FILE = """
written = 0
try:
    with open("one", "wb", 0) as file:
        while written < 64 << 20:
            written += file.write(bytes(1 << 20))
except OSError as error:
    say("stopped", errno.errorcode[error.errno])
say("written", written)
"""


def _check_metadata(scene: Scene) -> str:
    outcome = scene.run(_METADATA)
    if not finished(outcome):
        raise Broken(f"the program did not come to its end ({describe(outcome)})")
    scene.outside(_METADATA)
    changed = scene.host.harm()
    return "unchanged after four attempts; outside the jail, it is changed" if changed else "unchanged"


def _check_links(scene: Scene) -> str:
    outcome = scene.run(_LINKS)
    if not finished(outcome):
        raise Broken(f"the program could not leave what it should ({describe(outcome)}: {outcome.stderr[-200:]!r})")
    found = [name for name, word in told(scene.run(_LOOK_AROUND).stdout).items() if word == "done"]
    if found:
        raise Broken(f"not wiped: {', '.join(found)}")
    harm = scene.host.harm()
    if harm:
        raise Broken(f"the wipe followed a link: {'; '.join(harm)}")
    return "3,000 nested folders, names of 255 bytes, closed folders, fifos and links are wiped, and only they"


def _check_fill(program: str, unit: str, most: int) -> Check:
    def check(scene: Scene) -> str:
        full = told(scene.run(program).stdout)
        if "stopped" not in full or int(full[unit]) > most:
            raise Broken(f"{full[unit]} {unit}, of at most {most}")
        if int(full[unit]) < most // 100:
            raise Broken(f"only {full[unit]} {unit}, then {full['stopped']}: there is no room at all")
        after = told(scene.run(_LOOK_AROUND).stdout)
        if "done" in after.values():
            raise Broken("what was written is still there for the next sample")
        return f"stopped ({full['stopped']}) after {full[unit]} {unit}; the next sample has room again"

    return check


PROBES = (
    Probe(
        name="files.read",
        promise="No file of the host can be read, whatever its mode: secrets, homes, devices, other processes' files.",
        check=refused(_READS),
    ),
    Probe(
        name="files.see",
        promise="Not even the names, sizes and times of the host's files can be seen.",
        check=refused(_STATUS),
        skip=needs_namespaces("stat and chdir are not governed by Landlock"),
    ),
    Probe(
        name="files.write",
        promise="Nothing outside the scratch folders can be written, made, renamed or removed, even where all may.",
        check=refused(_WRITES),
    ),
    Probe(
        name="files.metadata",
        promise="Mode, owner, times and attributes of the host's files stay as they are.",
        check=_check_metadata,
    ),
    Probe(
        name="files.wipe",
        promise="Scratch folders are wiped whatever is in them, and wiping follows no link out.",
        check=_check_links,
    ),
    Probe(
        name="files.disk",
        promise="All that a case writes to its scratch folders stays within disk_mb.",
        check=_check_fill(_FILL, "written", LIMITS.disk_mb * MIB),
        skip=needs_namespaces("only each single file is bounded"),
    ),
    Probe(
        name="files.size",
        promise="No single file grows beyond disk_mb.",
        check=_check_fill(_ONE_FILE, "written", LIMITS.disk_mb * MIB),
    ),
    Probe(
        name="files.count",
        promise="The number of files is bounded.",
        check=_check_fill(_FILL_INODES, "made", 66_000),
        skip=needs_our_kernel("only their size is", also=needs_namespaces("the host's file system bounds it")),
    ),
)
