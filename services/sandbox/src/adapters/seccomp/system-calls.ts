export type Architecture = "x64" | "arm64";

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: what the kernel says of the call's own calling convention. */
export const auditArchitectures: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** [x86_64, aarch64], from the kernel's system call tables; undefined where an architecture never had the call. */
const numbers = {
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  setns: [308, 268],
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
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  mknod: [133, undefined],
  mknodat: [259, 33],
} as const satisfies Readonly<Record<string, readonly [number | undefined, number | undefined]>>;

export type SystemCall = keyof typeof numbers;

export function systemCallNumber(name: SystemCall, architecture: Architecture): number | undefined {
  return numbers[name][architecture === "x64" ? 0 : 1];
}
