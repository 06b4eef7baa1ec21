/**
 * Allow-list of the system calls of a container; calls that future kernels add are denied until they
 * are listed here. It is based on the engine's default profile for a container without capabilities,
 * and additionally denies io_uring, kernel keyrings, userfaultfd, LDT changes, 32-bit programs, and
 * uncommon socket families. The engine ignores names that its libseccomp does not know.
 */
const allowedCalls = splitWords(`
  accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown
  clock_adjtime clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range
  creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
  eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fanotify_mark
  fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork
  fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv
  futex_wake futimesat get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid
  getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid
  getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr
  getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
  io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule
  landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr
  listxattrat llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier
  memfd_create mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr
  mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd
  msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open openat openat2 pause
  pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64
  preadv preadv2 prlimit64 process_mrelease process_vm_readv process_vm_writev pselect6 ptrace pwrite64
  pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages
  removexattr removexattrat rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
  rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
  rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
  sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr
  sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile
  sendmmsg sendmsg sendto set_robust_list set_tid_address setfsgid setfsuid setgid setgroups setitimer
  setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr
  setxattrat shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat
  statfs statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create
  timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime
  timerfd_settime times tkill truncate umask uname unlink unlinkat utime utimensat utimes vfork vmsplice
  wait4 waitid write writev
`);

/** `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID` and `NEWNET`. */
const namespaceFlags = 0x7e02_0000;

/** AF_UNIX, AF_INET, AF_INET6, and AF_NETLINK for listing network addresses. */
const socketFamilies = [1, 2, 10, 16];

/** Combinations of PER_LINUX, PER_LINUX32 and UNAME26, and the value that queries the current one. */
const personalities = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** Only native 64-bit calls: `socketcall` of 32-bit programs would hide the socket family. */
const archMap = [
  { architecture: "SCMP_ARCH_X86_64", subArchitectures: null },
  { architecture: "SCMP_ARCH_AARCH64", subArchitectures: null },
];

/** Makes a C library fall back from `clone3` to `clone`. */
const ENOSYS = 38;

const seccompProfile = {
  defaultAction: "SCMP_ACT_ERRNO",
  archMap,
  syscalls: [
    allow(allowedCalls),
    ...socketFamilies.map((family) => allowFirstArgument("socket", "SCMP_CMP_EQ", family)),
    ...personalities.map((persona) => allowFirstArgument("personality", "SCMP_CMP_EQ", persona)),
    // `value` is the mask; the masked flags must equal `valueTwo`, which defaults to zero.
    allowFirstArgument("clone", "SCMP_CMP_MASKED_EQ", namespaceFlags),
    // Its flags are in memory, which a filter cannot read.
    { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: ENOSYS },
  ],
};

/** The profile as an entry of `SecurityOpt`. It replaces the engine's default profile. */
export const seccompOption = `seccomp=${JSON.stringify(seccompProfile)}`;

function allow(names: string[]) {
  return { names, action: "SCMP_ACT_ALLOW" };
}

function allowFirstArgument(name: string, op: string, value: number) {
  return { ...allow([name]), args: [{ index: 0, value, op }] };
}

function splitWords(text: string): string[] {
  return text.trim().split(/\s+/);
}
