"""Hostile programs in C, C++, Java, JavaScript, Bash, Go and Rust, beyond single system calls."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

import textwrap

from tests.hostile.programs import Attack, native
from tests.hostile.system_calls import c


def cpp(name: str, verdicts: str, body: str, **limits: int) -> Attack:
    """Return an attack by the body of a C++ program's main()."""
    return native(
        "cpp", f"c++: {name}", verdicts, f"#include <bits/stdc++.h>\n#include <unistd.h>\n{body}", "", **limits
    )


def java(name: str, verdicts: str, body: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by the body of a Java program's main()."""
    code = f"import java.io.*; import java.net.*; import java.nio.file.*; import java.util.*;\npublic class Main {{\n  static int deep(int n) {{ return 1 + deep(n + 1); }}\n  public static void main(String[] words) throws Throwable {{\n{body}\n  }}\n}}"
    return native("java", f"java: {name}", verdicts, code, denied, **{"cpu_s": 4, **limits})


def javascript(name: str, verdicts: str, code: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by a JavaScript program."""
    return native("javascript", f"javascript: {name}", verdicts, code, denied, **limits)


def bash(name: str, verdicts: str, code: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by a Bash script."""
    return native("bash", f"bash: {name}", verdicts, code, denied, **limits)


def go(name: str, verdicts: str, imports: str, body: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by the body of a Go program's main()."""
    packages = "\n".join(f'import "{package}"' for package in imports.split())
    return native(
        "go", f"go: {name}", verdicts, f"package main\n{packages}\nfunc main() {{\n{body}\n}}", denied, **limits
    )


def rust(name: str, verdicts: str, body: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by the body of a Rust program's main()."""
    return native("rust", f"rust: {name}", verdicts, f"fn main() {{\n{textwrap.dedent(body)}\n}}", denied, **limits)


C = (
    c("c: a fork bomb", "time_out", "for (;;) fork();"),
    c("c: a fork bomb, children allowed", "time_out|memory_exceed|unknown", "for (;;) fork();", processes=20, wall_s=10),
    c("c: memory at once", "memory_exceed|runtime_error", "size_t size = 1ul << 30; char *data = malloc(size); for (size_t at = 0; at < size; at += 4096) data[at] = 1;"),
    c("c: memory by mmap", "memory_exceed|runtime_error", "for (;;) { char *data = mmap(0, 1 << 24, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); data[0] = 1; }"),
    c("c: memory shared", "memory_exceed|runtime_error", "for (;;) { char *data = mmap(0, 1 << 24, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0); memset(data, 1, 1 << 24); }"),
    c("c: memory locked", "memory_exceed|runtime_error|output_mismatch", "mlockall(MCL_CURRENT | MCL_FUTURE); for (int n = 0; n < 64; n++) { char *data = mmap(0, 1 << 24, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (data == MAP_FAILED) break; memset(data, 1, 1 << 24); }"),
    c("c: a stack without end", "runtime_error|memory_exceed", "for (;;) { volatile char *data = alloca(1 << 16); data[0] = 1; }"),
    c("c: a very large mapping that is not used", "passed", "void *data = mmap(0, 1ul << 40, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); (void)data; answer = 9;"),
    c("c: a sparse file", "runtime_error|passed", 'int file = open("sparse", O_CREAT | O_RDWR, 0600); signal(SIGXFSZ, SIG_DFL); if (ftruncate(file, 1ul << 40)) answer = 9; else puts("reached");'),
    c("c: a file allocated at once", "resource_denied|passed|runtime_error", 'signal(SIGXFSZ, SIG_IGN); int file = open("large", O_CREAT | O_RDWR, 0600); if (fallocate(file, 0, 0, 1ul << 32)) answer = 9;'),
    c("c: very many descriptors", "passed", 'int many = 0; while (open("/dev/null", O_RDONLY) >= 0) if (++many > 1000000) { puts("reached"); return 0; } answer = 9;'),
    c("c: timers without end", "passed", "int many = 0; while (timerfd_create(CLOCK_MONOTONIC, 0) >= 0) if (++many > 1000000) { puts(\"reached\"); return 0; } answer = 9;"),
    c("c: a timer that signals without end", "time_out|runtime_error", "signal(SIGALRM, SIG_IGN); struct itimerspec each = {{0, 1}, {0, 1}}; struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM}; timer_t timer; for (int n = 0; n < 100; n++) { timer_create(CLOCK_MONOTONIC, &how, &timer); timer_settime(timer, 0, &each, 0); } for (;;) {}"),
    c("c: threads without end", "passed|time_out|memory_exceed|runtime_error|output_mismatch", "int many = 0; for (;; many++) { char *stack = malloc(16384); if (!stack || syscall(SYS_clone, 0x50f00, stack + 8192, 0, 0, 0) <= 0) break; } answer = 9;"),
    c("c: all signals ignored", "time_out", "for (int n = 1; n < 65; n++) signal(n, SIG_IGN); sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) {}"),
    c("c: SIGXCPU handled, limit raised", "time_out", "signal(SIGXCPU, SIG_IGN); setrlimit(RLIMIT_CPU, &(struct rlimit){-1, -1}); for (;;) {}"),
    c("c: asleep with SIGTERM ignored", "time_out", "signal(SIGTERM, SIG_IGN); for (;;) pause();", wall_s=2),
    c("c: killed by itself", "runtime_error", "raise(SIGKILL);"),
    c("c: stopped by itself", "time_out", "raise(SIGSTOP); answer = 9;", wall_s=2),
    c("c: a null pointer", "runtime_error", "puts(\"9\"); fflush(stdout); *(volatile int *)0 = 1;"),
    c("c: an illegal instruction", "runtime_error", "puts(\"9\"); fflush(stdout); __builtin_trap();"),
    c("c: a bus error", "runtime_error", 'int file = open("x", O_CREAT | O_RDWR, 0600); volatile char *data = mmap(0, 4096, 3, MAP_SHARED, file, 0); data[0] = 1;'),
    c("c: a core dump", "runtime_error", "setrlimit(RLIMIT_CORE, &(struct rlimit){1 << 20, 1 << 20}); prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); abort();"),
    c("c: a handler of core dumps", "output_mismatch|resource_denied|runtime_error", 'int file = open("/proc/sys/kernel/core_pattern", O_WRONLY); if (file >= 0 && write(file, "|/work/x", 8) > 0) puts("reached");'),
    c("c: kernel settings", "output_mismatch|resource_denied", 'const char *names[] = {"/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/uevent_helper"}; for (int n = 0; n < 8; n++) { int file = open(names[n], O_WRONLY); if (n != 3 && file >= 0 && write(file, "0", 1) > 0) { puts("reached"); return 0; } }'),
    c("c: killed last", "output_mismatch|resource_denied", 'int file = open("/proc/self/oom_score_adj", O_WRONLY); if (file >= 0 && write(file, "-1000", 5) > 0) puts("reached");'),
    c("c: memory of the machine", "output_mismatch|resource_denied", 'const char *names[] = {"/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/net/tun", "/dev/kmsg"}; for (int n = 0; n < 10; n++) TRY(open(names[n], O_RDWR));'),
    c("c: a program in memory, wrong", "output_mismatch", 'int file = memfd_create("x", 0); int from = open("/bin/true", O_RDONLY); sendfile(file, from, 0, 1 << 20); char *words[] = {"x", 0}; fexecve(file, words, words + 1);'),
    c("c: a program in memory, allowed nothing more", "resource_denied|output_mismatch|runtime_error", 'int file = memfd_create("x", 0); int from = open("/bin/bash", O_RDONLY); while (sendfile(file, from, 0, 1 << 24) > 0); char *words[] = {"bash", "-c", "echo x > /dev/tcp/127.0.0.1/80", 0}; fexecve(file, words, environ);', "network"),
    c("c: a set-uid program", "output_mismatch|runtime_error|resource_denied", 'char *words[] = {"su", "-c", "echo 9", 0}; execv("/bin/su", words);'),
    c("c: a set-uid copy", "output_mismatch|runtime_error|resource_denied", 'int to = open("copy", O_CREAT | O_WRONLY, 0700), from = open("/usr/bin/id", O_RDONLY); while (sendfile(to, from, 0, 1 << 24) > 0); fchmod(to, 06755); close(to); char *words[] = {"id", "-u", 0}; execv("copy", words);'),
    c("c: huge arguments", "output_mismatch|runtime_error", 'static char *words[40000]; char *word = malloc(1 << 17); memset(word, \'x\', (1 << 17) - 1); word[(1 << 17) - 1] = 0; for (int n = 0; n < 39999; n++) words[n] = word; execv("/bin/true", words); execve("/bin/true", (char *[]){"x", 0}, words);'),
    c("c: a library of its own", "output_mismatch|runtime_error", 'setenv("LD_PRELOAD", "/work/evil.so", 1); setenv("LD_LIBRARY_PATH", "/work", 1); setenv("LD_AUDIT", "/work/evil.so", 1); execl("/bin/true", "true", (char *)0);'),
    c("c: every descriptor written to", "output_mismatch|runtime_error", "for (int fd = 3; fd < 65536; fd++) write(fd, \"9\\n\", 2);"),
    c("c: every descriptor sent on", "output_mismatch", "for (int fd = 3; fd < 1024; fd++) { dup2(1, fd); }"),
    c("c: descriptors of the parent", "output_mismatch|resource_denied", 'char name[64]; for (int fd = 0; fd < 256; fd++) { sprintf(name, "/proc/%d/fd/%d", getppid(), fd); TRY(open(name, O_RDWR | O_NONBLOCK)); }'),
    c("c: the parent's memory", "output_mismatch|resource_denied", 'char name[64]; sprintf(name, "/proc/%d/mem", getppid()); TRY(open(name, O_RDWR));'),
    c("c: its own program changed", "output_mismatch|resource_denied", 'int file = open("/proc/self/exe", O_WRONLY); if (file >= 0) puts("reached");'),
    c("c: output read back", "output_mismatch|runtime_error", 'int file = open("/dev/stdout", O_RDWR | O_NONBLOCK); read(file, area, 10); ftruncate(1, 0); lseek(1, 0, SEEK_SET);'),
    c("c: its pipe filled and stopped", "time_out", 'fcntl(0, F_SETPIPE_SZ, 1 << 20); dup2(0, 5); char *name = "/proc/self/fd/0"; int file = open(name, O_WRONLY); for (;;) if (write(file, area, 65536) < 0) pause();', wall_s=2),
    c("c: output without end", "output_exceed", "for (;;) write(1, area, sizeof area);"),
    c("c: errors without end", "output_exceed", "for (;;) write(2, area, sizeof area);"),
    c("c: output by splicing", "output_exceed", 'int pair[2]; pipe(pair); for (;;) { write(pair[1], area, 4096); splice(pair[0], 0, 1, 0, 4096, 0); }'),
    c("c: 32-bit calls", "resource_denied|runtime_error", '__asm__ volatile("int $0x80" : : "a"(20)); answer = 9; raise(SIGKILL);'),
    c("c: a name without end", "output_mismatch", "prctl(PR_SET_NAME, \") S 1 1 1\\n\", 0, 0, 0); memset(area, 'x', 60000); prctl(PR_SET_NAME, area, 0, 0, 0);"),
    c("c: its own death ignored", "time_out", "prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0); prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); for (;;) {}"),
    c("c: a daemon", "passed|resource_denied|time_out", "puts(\"9\"); fflush(stdout); if (fork() == 0) { setsid(); if (fork() == 0) for (;;) pause(); _exit(0); } wait(0); return 0;", processes=8),
    c("c: a daemon that forks on", "passed|resource_denied|time_out|memory_exceed", "puts(\"9\"); fflush(stdout); if (fork() == 0) { setsid(); close(0); close(1); close(2); for (;;) { if (fork() > 0) _exit(0); } } return 0;", processes=8),
)  # fmt: skip

#: What the first of two equal cases leaves, the second must not find: it then says 8.
CARRIED = tuple(
    attack._replace(cases=2)
    for attack in (
        c("c: leaves a file", "passed", 'answer = open("left", O_CREAT | O_EXCL | O_RDWR, 0666) < 0 ? 8 : 9;'),
        c("c: leaves a temporary file", "passed", 'char *place = getenv("TMPDIR"); chdir(place ? place : "/tmp"); answer = open("left", O_CREAT | O_EXCL | O_RDWR, 0666) < 0 ? 8 : 9;'),
        c("c: leaves shared memory", "passed", 'int left = open("/dev/shm/left", O_CREAT | O_EXCL | O_RDWR, 0666); answer = left < 0 && errno == EEXIST ? 8 : 9;'),
        c("c: leaves a fifo", "passed", 'answer = mkfifo("left", 0666) ? 8 : 9;'),
        c("c: leaves a link over our input", "passed", 'answer = symlink("/etc/passwd", "left") ? 8 : 9; symlink("/", "stdin"); symlink("/dev/full", "stdout");'),
        c("c: leaves a hard link", "passed", 'close(open("x", O_CREAT | O_RDWR, 0666)); answer = link("x", "left") ? 8 : 9;'),
        c("c: leaves a folder nobody may enter", "passed", 'answer = mkdir("left", 0777) ? 8 : 9; mkdir("left/a", 0); chmod("left", 0);'),
        c("c: leaves limits", "passed", 'struct rlimit now; getrlimit(RLIMIT_NOFILE, &now); answer = now.rlim_cur == 17 ? 8 : 9; setrlimit(RLIMIT_NOFILE, &(struct rlimit){17, 17}); setrlimit(RLIMIT_CPU, &(struct rlimit){1, 1}); setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});'),
        c("c: leaves a working folder", "passed", 'getcwd(area, 4096); answer = strcmp(area, "/") ? 9 : 8; chdir("/");'),
        c("c: leaves a mask", "passed", "answer = umask(0777) == 0777 ? 8 : 9;"),
        c("c: leaves a name of a process", "passed", 'prctl(PR_GET_NAME, area, 0, 0, 0); answer = strcmp(area, "left") ? 9 : 8; prctl(PR_SET_NAME, "left", 0, 0, 0);'),
        c("c: leaves signals ignored", "passed", "answer = signal(SIGTERM, SIG_IGN) == SIG_IGN || signal(SIGHUP, SIG_IGN) == SIG_IGN ? 8 : 9;"),
        c("c: leaves priority", "passed", "errno = 0; answer = getpriority(PRIO_PROCESS, 0) == 7 ? 8 : 9; setpriority(PRIO_PROCESS, 0, 7);"),
        c("c: leaves flags of its output", "passed", "answer = fcntl(1, F_GETFL) & O_NONBLOCK ? 8 : 9; fcntl(1, F_SETFL, O_NONBLOCK); fcntl(0, F_SETFL, O_NONBLOCK);"),
        c("c: leaves a lock", "passed", 'answer = syscall(SYS_flock, 1, 6) && errno == EWOULDBLOCK ? 8 : 9;'),
        bash("leaves files and settings", "passed", "[ -e left ] && echo 8 || echo 9\n: > left; export LEFT=1; ulimit -n 20; cd /"),
        javascript("leaves files", "passed", "const fs = require('fs'); console.log(fs.existsSync('left') ? 8 : 9); fs.writeFileSync('left', '1'); process.chdir('/');"),
        java("leaves files", "passed", 'System.out.println(new File("left").createNewFile() ? 9 : 8); System.setProperty("left", "1");'),
    )
)  # fmt: skip

CPP = (
    cpp("an exception", "runtime_error", "int main() { std::cout << 9 << std::endl; throw 1; }"),
    cpp("terminate replaced", "output_mismatch|runtime_error", "int main() { std::set_terminate([] { std::cout << 8 << std::endl; _exit(0); }); throw 1; }"),
    cpp("a constructor that ends it all", "output_mismatch", "struct A { A() { _exit(0); } } a;\nint main() { std::cout << 9; }"),
    cpp("a vector without end", "memory_exceed|runtime_error", "int main() { std::vector<std::string> all; for (;;) all.emplace_back(1 << 16, 'x'); }"),
    cpp("recursion without end", "runtime_error|memory_exceed", "int f(volatile int n) { volatile char a[4096]; a[0] = n; return f(n + 1) + a[0]; }\nint main() { std::cout << f(0); }"),
    cpp("a loop", "time_out", "int main() { volatile int n = 0; for (;;) n = n + 1; }"),
    cpp("threads that loop", "time_out|runtime_error", "int main() { std::vector<std::thread> all; for (int n = 0; n < 8; n++) all.emplace_back([] { volatile int m = 0; for (;;) m = m + 1; }); for (auto &t : all) t.join(); }"),
    cpp("a shell", "resource_denied|output_mismatch", 'int main() { std::cout << (std::system("echo 9") == 0 ? 9 : 8); }'),
    cpp("output without end", "output_exceed", 'int main() { for (;;) std::cout << "9999999999\\n"; }'),
)  # fmt: skip

JAVA = (
    java("memory", "memory_exceed", "List<byte[]> all = new ArrayList<>(); while (true) all.add(new byte[1 << 20]);"),
    java("memory outside of the heap", "memory_exceed|runtime_error", "List<Object> all = new ArrayList<>(); while (true) { java.nio.ByteBuffer b = java.nio.ByteBuffer.allocateDirect(1 << 20); all.add(b); }"),
    java("memory, swallowing the error", "memory_exceed|time_out|runtime_error", "List<byte[]> all = new ArrayList<>(); while (true) try { all.add(new byte[1 << 20]); } catch (Throwable t) { }"),
    java("a loop", "time_out", "while (true) ;"),
    java("asleep", "time_out", "Thread.sleep(60000);", wall_s=5),
    java("an end that is put off", "time_out", "Runtime.getRuntime().addShutdownHook(new Thread(() -> { while (true) ; })); System.out.println(9);"),
    java("recursion", "runtime_error", "System.out.println(deep(0));", cpu_s=10),
    java("threads", "runtime_error|memory_exceed|time_out|unknown", "while (true) { new Thread(() -> { try { Thread.sleep(60000); } catch (Exception e) { } }).start(); }", wall_s=8),
    java("right, then halted", "runtime_error", "System.out.println(9); System.out.flush(); Runtime.getRuntime().halt(3);"),
    java("a socket", "resource_denied|runtime_error", 'new Socket("127.0.0.1", 80);', "network"),
    java("a server", "resource_denied|runtime_error", "new ServerSocket(0);", "network"),
    java("another program", "resource_denied|runtime_error", 'new ProcessBuilder("/bin/echo", "9").inheritIO().start().waitFor();'),
    java("a file of the machine", "resource_denied|runtime_error", 'System.out.println(Files.readString(Path.of("/etc/shadow")));'),
    java("a file written at the root", "resource_denied|runtime_error", 'Files.writeString(Path.of("/usr/x"), "x");'),
    java("output", "output_exceed", 'while (true) System.out.println("999999999999999999");', cpu_s=20),
    java("disk", "resource_denied|runtime_error", 'try (var out = new FileOutputStream("x")) { while (true) out.write(new byte[1 << 20]); }', disk_mb=20),
    java("its own internals", "output_mismatch|runtime_error", 'var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); field.setAccessible(true); ((sun.misc.Unsafe) field.get(null)).putLong(0L, 1L);'),
)  # fmt: skip

JAVASCRIPT = (
    javascript("memory", "memory_exceed", "const all = []; for (;;) all.push(new Array(1e5).fill({}));", cpu_s=20),
    javascript("memory in buffers", "memory_exceed|runtime_error", "const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1));"),
    javascript("a loop", "time_out", "for (;;) {}"),
    javascript("promises without end", "time_out|memory_exceed", "const go = () => Promise.resolve().then(go); go();"),
    javascript("a timer that stays", "time_out", "console.log(9); setInterval(() => {}, 1000);", wall_s=2),
    javascript("recursion", "runtime_error|memory_exceed", "const f = () => 1 + f(); console.log(f());", cpu_s=10),
    javascript("an expression", "time_out", "/^(a+)+$/.test('a'.repeat(64) + 'b');"),
    javascript("right, then exit 3", "runtime_error", "console.log(9); process.exitCode = 3;"),
    javascript("wrong, then a clean exit", "output_mismatch", "process.on('exit', () => { process.exitCode = 0; }); console.log(8);"),
    javascript("an error hidden", "output_mismatch|runtime_error", "process.on('uncaughtException', () => process.exit(0)); console.log(8); throw 1;"),
    javascript("another program", "resource_denied|runtime_error", "console.log(require('child_process').execSync('echo 9').toString());"),
    javascript("a connection", "resource_denied|runtime_error", "require('net').connect(80, '127.0.0.1').on('error', e => { throw e; });", "network"),
    javascript("a server", "resource_denied|runtime_error", "require('http').createServer().listen(0);", "network"),
    javascript("the agent killed", "resource_denied|runtime_error", "process.kill(1, 'SIGKILL');", "signal"),
    javascript("a file of the machine", "resource_denied|runtime_error", "console.log(require('fs').readFileSync('/etc/shadow', 'utf8'));"),
    javascript("a library of the machine changed", "resource_denied|runtime_error", "require('fs').writeFileSync('/usr/lib/x.js', '1');"),
    javascript("workers", "runtime_error|memory_exceed|time_out|output_mismatch", "const { Worker } = require('worker_threads'); for (let n = 0; n < 50; n++) new Worker('for(;;){}', { eval: true });", wall_s=20),
    javascript("output", "output_exceed", "const fs = require('fs'); for (;;) fs.writeSync(1, '9'.repeat(65536));"),
    javascript("a native call", "runtime_error|output_mismatch", "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'); console.log(8);"),
)  # fmt: skip

BASH = (
    bash("a bomb, none allowed", "resource_denied|runtime_error|time_out", ":(){ :|:& };:", "process creation"),
    bash("a bomb, some allowed", "time_out|memory_exceed|runtime_error|resource_denied|output_mismatch|unknown", ":(){ :|:& };:", processes=20, wall_s=3),
    bash("a loop", "time_out", "while :; do :; done"),
    bash("a loop that traps all", "time_out", "for n in {1..64}; do trap '' $n 2>/dev/null; done; while :; do :; done"),
    bash("memory", "memory_exceed|runtime_error|time_out", "x=x; while :; do x=$x$x; done"),
    bash("output", "output_exceed", "while :; do echo 99999999999999999999; done"),
    bash("output in the background", "output_exceed|time_out", "yes & yes & wait", processes=8),
    bash("disk", "runtime_error|time_out|output_mismatch|resource_denied", "while :; do printf '%1000000s' x >> big || exit 1; done", disk_mb=20),
    bash("a connection", "resource_denied", "echo x > /dev/tcp/127.0.0.1/80", "network"),
    bash("a datagram", "resource_denied", "echo x > /dev/udp/127.0.0.1/53", "network"),
    bash("the agent killed", "resource_denied", "kill -9 1 || echo 8", "signal to another process"),
    bash("all killed", "resource_denied", "kill -9 -1 || echo 8", "signal to another process"),
    bash("the agent killed, children allowed", "resource_denied", "kill -9 1 || echo 8", "signal to another process", processes=8),
    bash("users of the machine", "output_mismatch|runtime_error", "while read -r line; do echo \"$line\"; done < /etc/shadow"),
    bash("a system file", "runtime_error|output_mismatch", "echo x > /usr/bin/x"),
    bash("limits lifted", "runtime_error|output_mismatch", "ulimit -t unlimited; ulimit -u unlimited; ulimit -c 100 && echo 8"),
    bash("a fifo that nobody writes to", "time_out|unknown", "mkfifo x; cat x", wall_s=2, processes=8),
    bash("links everywhere", "passed", "ln -s / root; ln -s loop loop; ln -s /proc/self/fd/1 out; mkfifo pipe; echo 9", processes=8),
    bash("a daemon", "passed|time_out", "echo 9; (setsid sleep 60 < /dev/null > /dev/null 2>&1 &)", processes=8),
    bash("traced", "output_mismatch|runtime_error|resource_denied", "gdb -p 1 || strace -p 1 || nsenter -t 1 -a || echo 8", processes=8),
    bash("mounted", "output_mismatch|runtime_error|resource_denied", "mount -t tmpfs none /work || unshare -r true || echo 8", processes=8),
)  # fmt: skip

GO = (
    go("memory", "memory_exceed", "", "var all [][]byte; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; all = append(all, b) }"),
    go("routines that loop", "time_out", "", "for i := 0; i < 8; i++ { go func() { for { } }() }; select {}"),
    go("a deadlock", "runtime_error", "", "select {}"),
    go("a connection", "resource_denied|runtime_error", "net", 'if _, err := net.Dial("tcp", "127.0.0.1:80"); err != nil { panic(err) }', "network"),
    go("the agent killed", "resource_denied", "syscall", "if err := syscall.Kill(1, 9); err != nil { panic(err) }", "signal to another process"),
    go("a mount", "resource_denied", "syscall", 'if err := syscall.Mount("none", "/work", "tmpfs", 0, ""); err != nil { panic(err) }', "mounts: mount"),
    go("another program", "resource_denied|runtime_error", "os/exec", 'if err := exec.Command("/bin/true").Run(); err != nil { panic(err) }'),
)  # fmt: skip

RUST = (
    rust("memory", "memory_exceed|runtime_error", "let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 20]); }"),
    rust("a loop", "time_out", "let mut n = 0u64; loop { n = unsafe { std::ptr::read_volatile(&n) } + 1; }"),
    rust("a panic", "runtime_error", 'println!("9"); panic!("passed");'),
    rust("a panic in a panic", "runtime_error", "struct A; impl Drop for A { fn drop(&mut self) { panic!() } } let _a = A; panic!();"),
    rust("a connection", "resource_denied|runtime_error", 'std::net::TcpStream::connect("127.0.0.1:80").unwrap();', "network"),
    rust("another program", "resource_denied|runtime_error", 'std::process::Command::new("/bin/true").status().unwrap();'),
)  # fmt: skip

NATIVE = (*C, *CARRIED, *CPP, *JAVA, *JAVASCRIPT, *BASH, *GO, *RUST)
