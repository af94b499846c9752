/**
 * What a sandbox may not call, and what programs do without where the kernel is too old or built without it: the answer is
 * ENOSYS, at which they take another way.
 */
export const absentCalls = {
  // What they are asked for lies in memory, unseen by a filter; there is an older call for each.
  clone3: [435, 435],
  openat2: [437, 437],
  file_getattr: [468, 468],
  file_setattr: [469, 469],

  // Work done by the kernel past the filter, or with a history of holes; programs use threads instead.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_setup: [206, 0],
  io_destroy: [207, 1],
  io_submit: [209, 2],
  io_cancel: [210, 3],
  io_getevents: [208, 4],
  io_pgetevents: [333, 292],

  // Where memory lies: without these a machine has one node, and libraries ask no further.
  get_mempolicy: [239, 236],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  move_pages: [279, 239],

  // Memory that the kernel cannot read back; programs take ordinary memory.
  memfd_secret: [447, 447],

  // Mounts, namespaces and security modules, which /proc tells as well.
  statmount: [457, 457],
  listmount: [458, 458],
  listns: [470, 470],
  lsm_get_self_attr: [459, 459],
  lsm_set_self_attr: [460, 460],
  lsm_list_modules: [461, 461],

  // Newer than the container engine's profile. The kernel lets uprobe pass every filter, since it has it called itself.
  uprobe: [336, undefined],
  rseq_slice_yield: [471, 471],

  // The kernel has no such call any more, or never had.
  _sysctl: [156, undefined],
  afs_syscall: [183, undefined],
  create_module: [174, undefined],
  epoll_ctl_old: [214, undefined],
  epoll_wait_old: [215, undefined],
  get_kernel_syms: [177, undefined],
  get_thread_area: [211, undefined],
  getpmsg: [181, undefined],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  putpmsg: [182, undefined],
  query_module: [178, undefined],
  security: [185, undefined],
  set_thread_area: [205, undefined],
  tuxcall: [184, undefined],
  uselib: [134, undefined],
  vserver: [236, undefined],
} as const;
