/** What a sandbox may not call: the answer is EPERM, as for anybody without rights. */
export const refusedCalls = {
  // Namespaces and mounts: they would change what the sandbox can see.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],

  // A look into other processes and their memory. The container engine allows the first four.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_mrelease: [448, 448],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],

  // Keys of the machine's users: the kernel has no namespace for them.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],

  // Programs and probes in the kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],

  // A handle reaches a file past the mounts that hide it, and a mark watches all of a file system.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],

  // The kernel itself and its modules.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  syslog: [103, 116],
  acct: [163, 89],

  // The machine's disks, ports, names, terminals and clock. The container engine allows the last two, which also read the clock.
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],

  // Allowed by the container engine, with a history of holes in the kernel, and called by no tool of development: segments
  // for 16-bit programs, pages lent to a pipe, pages in another order.
  modify_ldt: [154, undefined],
  vmsplice: [278, 75],
  remap_file_pages: [216, 234],

  // Long out of use.
  ustat: [136, undefined],
  sysfs: [139, undefined],
} as const;
