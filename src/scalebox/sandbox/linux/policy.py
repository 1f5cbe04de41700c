"""Which system calls a program under test may make.

Every call that is not named here does not exist for it (ENOSYS), as the next kernel's calls do not.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What CPython, C, C++, Java, JavaScript and Go programs need, and what can touch only the program itself.
ALLOWED: Final = _words("""
    read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
    rt_sigreturn pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise dup dup2
    pause nanosleep getitimer alarm setitimer getpid sendfile sendto recvfrom sendmsg recvmsg shutdown getsockname
    getpeername setsockopt getsockopt execve exit wait4 uname flock fsync fdatasync ftruncate getdents getcwd chdir
    fchdir rename mkdir rmdir creat link unlink symlink readlink umask gettimeofday getrlimit getrusage sysinfo
    times getuid getgid setuid setgid geteuid getegid getppid getpgrp setsid setreuid setregid getgroups setgroups
    setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending
    rt_sigtimedwait rt_sigsuspend sigaltstack statfs fstatfs getpriority sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall arch_prctl
    setrlimit gettid readahead getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr time futex
    sched_getaffinity epoll_create getdents64 set_tid_address restart_syscall fadvise64 timer_create timer_settime
    timer_gettime timer_getoverrun timer_delete clock_gettime clock_getres clock_nanosleep exit_group epoll_wait
    epoll_ctl mbind set_mempolicy get_mempolicy waitid ioprio_get inotify_init inotify_add_watch inotify_rm_watch
    openat mkdirat newfstatat unlinkat renameat linkat symlinkat readlinkat faccessat pselect6 ppoll set_robust_list
    get_robust_list splice tee sync_file_range vmsplice epoll_pwait signalfd timerfd_create eventfd fallocate
    timerfd_settime timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev
    recvmmsg sendmmsg getcpu sched_getattr renameat2 getrandom memfd_create execveat membarrier mlock2
    copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx rseq close_range openat2 faccessat2
    epoll_pwait2 landlock_create_ruleset landlock_add_rule landlock_restrict_self futex_waitv map_shadow_stack
    futex_wake futex_wait futex_requeue mseal
""")  # fmt: skip

#: Changes to a file's mode, owner and times. Landlock does not govern them.
METADATA: Final = _words("""
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
""")  # fmt: skip

#: Refused and recorded, by the kind of thing that was tried.
DENIED: Final = {
    "network": "connect accept accept4 bind listen",
    "debugging": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd",
    "namespaces": "unshare setns",
    "mounts": "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr"
    " open_tree_attr statmount listmount swapon swapoff quotactl quotactl_fd",
    "kernel": "bpf perf_event_open userfaultfd init_module finit_module delete_module kexec_load kexec_file_load reboot"
    " syslog acct iopl ioperm modify_ldt vhangup migrate_pages",
    "files": "open_by_handle_at name_to_handle_at fanotify_init fanotify_mark",
    "keyring": "add_key request_key keyctl",
    "shared memory": "shmget shmat shmctl shmdt",
    "semaphores": "semget semop semctl semtimedop",
    "message queues": "msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify"
    " mq_getsetattr",
    "clock": "settimeofday clock_settime adjtimex clock_adjtime",
    "host name": "sethostname setdomainname",
    "signal to another process": "pidfd_send_signal",
}

#: Calls whose arguments decide, and what kind of thing a refused one tried.
DEPENDS: Final = {
    "socket": "network", "socketpair": "network", "clone": "namespaces", "prctl": "process control",
    "personality": "process control", "ioctl": "terminal", "mknod": "devices", "mknodat": "devices",
    "seccomp": "seccomp", "prlimit64": "limits", "setpriority": "scheduling", "ioprio_set": "scheduling",
    "sched_setparam": "scheduling", "sched_setscheduler": "scheduling", "sched_setattr": "scheduling",
    "move_pages": "scheduling", "fcntl": "signal to another process",
}  # fmt: skip

#: Left to whoever knows the processes of a sample: its supervisor, or the filter of each case. "clone" is one of them
#: where it makes a process, "setpgid" where it names a group.
SUPERVISED: Final = {
    "fork": "process creation", "vfork": "process creation", "kill": "signal to another process",
    "tkill": "signal to another process", "tgkill": "signal to another process",
    "rt_sigqueueinfo": "signal to another process", "rt_tgsigqueueinfo": "signal to another process",
    "pidfd_open": "signal to another process", "setpgid": "process control",
}  # fmt: skip

#: Answered with success and nothing done: honest programs make these calls, and they could slow down or follow others.
WITHOUT_EFFECT: Final = frozenset({"sched_setaffinity", "sync", "syncfs"})

#: Extended attributes would be a channel from case to case; file systems without them answer so.
NOT_SUPPORTED: Final = _words("""
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
""")  # fmt: skip

KIND_OF: Final = {name: kind for kind, names in DENIED.items() for name in names.split()} | DEPENDS | SUPERVISED
