/** The processors for which this table knows the numbers of system calls. */
export type Architecture = "x86_64" | "aarch64";

/** The number of a call on each processor; null where the processor does not have it. */
export type CallNumbers = Readonly<Record<Architecture, number | null>>;

/** A test of one argument's lower 32 bits. Every argument that the table tests is an `int` for the kernel. */
export type ArgumentCheck =
  | { argument: number; mask?: number; in: readonly number[] }
  | { argument: number; mask?: number; notIn: readonly number[] };

/** A system call that commands may not make, or only with some arguments. */
export interface CallRow {
  name: string;
  numbers: CallNumbers;
  /** The error that a refused call returns. Programs fall back to other calls on `ENOSYS`. */
  error: keyof typeof errorNumbers;
  /** The call is allowed if all checks of one list hold. @default never allowed */
  allowedIf?: readonly (readonly ArgumentCheck[])[];
  reason: string;
}

export const errorNumbers = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/**
 * The highest number that this table has judged (Linux 6.18). Later calls return `ENOSYS`: a new kernel must not give
 * commands a call that no release of troupe has considered. It also covers the x32 calls, whose numbers start at 2^30.
 */
export const lastJudgedNumber = 469;

/** `CLONE_NEWNS`, `…CGROUP`, `…UTS`, `…IPC`, `…USER`, `…PID` and `…NET`. */
const newNamespaceFlags = 0x7e02_0000;
/** `CLONE_NEWTIME` is a part of the exit signal for `clone`, and a flag for `unshare`. */
const newTimeFlag = 0x80;

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
/** Without the flags `SOCK_NONBLOCK` and `SOCK_CLOEXEC`: stream and datagram. */
const usualTypes: ArgumentCheck = { argument: 1, mask: 0xf, in: [1, 2] };
/** Default, ICMP (`ping`), TCP, UDP and ICMPv6. Others, such as SCTP, load parts of the kernel that few programs use. */
const usualProtocols: ArgumentCheck = { argument: 2, in: [0, 1, 6, 17, 58] };

/** Every restricted call, with its reason. All other calls up to `lastJudgedNumber` are allowed. */
export const callTable: readonly CallRow[] = [
  ...refused("ENOSYS", "kernel keyrings hold keys of the user and of other programs", {
    add_key: [248, 217],
    request_key: [249, 218],
    keyctl: [250, 219],
  }),
  {
    name: "socket",
    numbers: { x86_64: 41, aarch64: 198 },
    error: "EAFNOSUPPORT",
    allowedIf: [
      [{ argument: 0, in: [families.unix] }],
      [{ argument: 0, in: [families.inet, families.inet6] }, usualTypes, usualProtocols],
      // Programs list network interfaces with the protocol 0, ROUTE.
      [
        { argument: 0, in: [families.netlink] },
        { argument: 2, in: [0] },
      ],
    ],
    reason:
      "rare families (VSOCK, ALG, PACKET and others) reach the host of a virtual machine, or kernel code with many holes",
  },
  {
    name: "socketpair",
    numbers: { x86_64: 53, aarch64: 199 },
    error: "EAFNOSUPPORT",
    allowedIf: [[{ argument: 0, in: [families.unix] }]],
    reason: "only local pairs are used; other families load parts of the kernel",
  },
  ...refused("ENOSYS", "requests in a ring are not checked by this filter, and the code had many holes", {
    io_uring_setup: [425, 425],
    io_uring_enter: [426, 426],
    io_uring_register: [427, 427],
  }),
  ...refused("ENOSYS", "a program that holds a page fault open can win races in the kernel", {
    userfaultfd: [323, 282],
  }),
  ...refused("EPERM", "code and measurements inside the kernel", {
    bpf: [321, 280],
    perf_event_open: [298, 241],
    lookup_dcookie: [212, 18],
    syslog: [103, 116],
  }),
  ...refused("EPERM", "reading or changing another process, also the first process of the sandbox", {
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    pidfd_getfd: [438, 438],
    kcmp: [312, 272],
  }),
  ...refused("EPERM", "another kernel, or code in this one", {
    kexec_load: [246, 104],
    kexec_file_load: [320, 294],
    create_module: [174, null],
    init_module: [175, 105],
    delete_module: [176, 106],
    finit_module: [313, 273],
    query_module: [178, null],
    get_kernel_syms: [177, null],
  }),
  ...refused("EPERM", "mounts decide what a command sees", {
    mount: [165, 40],
    umount2: [166, 39],
    pivot_root: [155, 41],
    chroot: [161, 51],
    open_tree: [428, 428],
    move_mount: [429, 429],
    fsopen: [430, 430],
    fsconfig: [431, 431],
    fsmount: [432, 432],
    fspick: [433, 433],
    mount_setattr: [442, 442],
    open_tree_attr: [467, 467],
  }),
  {
    name: "clone",
    numbers: { x86_64: 56, aarch64: 220 },
    error: "EPERM",
    allowedIf: [[{ argument: 0, mask: newNamespaceFlags, in: [0] }]],
    reason: "in a namespace of its own, a command would have rights; threads and processes are allowed",
  },
  {
    name: "unshare",
    numbers: { x86_64: 272, aarch64: 97 },
    error: "EPERM",
    allowedIf: [[{ argument: 0, mask: newNamespaceFlags + newTimeFlag, in: [0] }]],
    reason: "in a namespace of its own, a command would have rights",
  },
  ...refused("ENOSYS", "its flags are in memory, where a filter cannot read them; libraries fall back to clone", {
    clone3: [435, 435],
  }),
  ...refused("EPERM", "the namespaces of other processes", { setns: [308, 268] }),
  ...refused("EPERM", "file systems, power, clock and accounts of the whole machine", {
    quotactl: [179, 60],
    quotactl_fd: [443, 443],
    swapon: [167, 224],
    swapoff: [168, 225],
    reboot: [169, 142],
    settimeofday: [164, 170],
    clock_settime: [227, 112],
    adjtimex: [159, 171],
    clock_adjtime: [305, 266],
    acct: [163, 89],
    nfsservctl: [180, 42],
    sethostname: [170, 161],
    setdomainname: [171, 162],
    vhangup: [153, 58],
  }),
  ...refused("EPERM", "files by number, past the folders that lead to them", {
    name_to_handle_at: [303, 264],
    open_by_handle_at: [304, 265],
    fanotify_init: [300, 262],
  }),
  {
    name: "personality",
    numbers: { x86_64: 135, aarch64: 92 },
    error: "EPERM",
    // The default, fixed addresses (sanitizers), and the question for the present value.
    allowedIf: [[{ argument: 0, in: [0, 0x4_0000, 0xffff_ffff] }]],
    reason: "the behaviour of other systems: executable data, and a page at address 0",
  },
  {
    name: "ioctl",
    numbers: { x86_64: 16, aarch64: 29 },
    error: "EPERM",
    // TIOCSTI, TIOCLINUX, TIOCSETD.
    allowedIf: [[{ argument: 1, notIn: [0x5412, 0x541c, 0x5423] }]],
    reason: "typing into a terminal for its user, or changing how the kernel reads it",
  },
  ...refused("EPERM", "ports of the hardware", { iopl: [172, null], ioperm: [173, null] }),
  ...refused("ENOSYS", "pages that two processes share without knowing it; programs copy instead", {
    vmsplice: [278, 75],
  }),
  ...refused("ENOSYS", "obsolete calls that hardly any program makes", {
    modify_ldt: [154, null],
    uselib: [134, null],
    sysfs: [139, null],
    _sysctl: [156, null],
    remap_file_pages: [216, 234],
  }),
];

function refused(
  error: CallRow["error"],
  reason: string,
  calls: Readonly<Record<string, readonly [number, number | null]>>,
): CallRow[] {
  return Object.entries(calls).map(([name, [x86_64, aarch64]]) => ({
    name,
    numbers: { x86_64, aarch64 },
    error,
    reason,
  }));
}
