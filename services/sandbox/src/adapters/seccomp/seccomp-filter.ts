import { and, assemble, giveBack, load, unlessEqual, whenAtLeast, whenEqual, type Instruction } from "./bpf.ts";
import { auditArchitectures, systemCallNumber, type Architecture, type SystemCall } from "./system-calls.ts";

// Offsets in struct seccomp_data. Of an argument the low word is read: that is what the kernel looks at for these calls.
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;
const THIRD_ARGUMENT = 32;
const FOURTH_ARGUMENT = 40;

const ALLOW = giveBack(0x7fff0000);
const KILL_PROCESS = giveBack(0x80000000);
const refuse = (errno: number): Instruction => giveBack(0x00050000 | errno);
const EPERM = 1;
const ENOSYS = 38;
const ESOCKTNOSUPPORT = 94;
const EAFNOSUPPORT = 97;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** The rest of the argument are flags. */
const SOCKET_TYPE = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** On x86_64 a second, 32-bit-pointer table of calls begins here. */
const X32_CALLS = 0x40000000;

const S_ISUID_OR_S_ISGID = 0o6000;
/** O_CREAT, and the bit that only O_TMPFILE has: without them there is no mode. */
const MAKES_A_FILE = 0o100 | 0o20000000;

/** Programs fall back to an older way where these are not there. What they are asked for lies in memory, unseen by a filter. */
const ABSENT: readonly SystemCall[] = ["clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"];

const FORBIDDEN: readonly SystemCall[] = [
  "unshare",
  "setns",
  "mount",
  "umount2",
  "pivot_root",
  "chroot",
  "open_tree",
  "open_tree_attr",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "pidfd_getfd",
  "kcmp",
  "add_key",
  "request_key",
  "keyctl",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "fanotify_init",
  "open_by_handle_at",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "acct",
  "swapon",
  "swapoff",
  "reboot",
  "syslog",
  "quotactl",
  "quotactl_fd",
];

/**
 * The filter for everything that runs in a sandbox: no socket but for the loopback's internet protocols (a Unix socket
 * would reach through the workspace to daemons outside), no new namespace, no look into other processes, none of the
 * kernel's large attack surfaces, and no file that runs with its owner's rights (in a workspace of root's it would give
 * those away on the machine outside). Pairs of Unix sockets without a name stay: pipes of Node are made of them. Those of
 * datagrams do not: an end of one can send to any socket that has a name.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  const on = (call: SystemCall, block: readonly Instruction[]): Instruction[] => {
    const number = systemCallNumber(call, architecture);
    return number === undefined ? [] : whenEqual(number, block);
  };
  const x32 = architecture === "x64" ? whenAtLeast(X32_CALLS, [KILL_PROCESS]) : [];
  return assemble([
    load(ARCHITECTURE),
    ...unlessEqual(auditArchitectures[architecture], [KILL_PROCESS]),
    load(NUMBER),
    ...x32,
    ...on("socket", [load(FIRST_ARGUMENT), ...whenEqual(AF_INET, [ALLOW]), ...whenEqual(AF_INET6, [ALLOW]), refuse(EAFNOSUPPORT)]),
    ...on("socketpair", [
      load(FIRST_ARGUMENT),
      ...unlessEqual(AF_UNIX, [refuse(EAFNOSUPPORT)]),
      load(SECOND_ARGUMENT),
      and(SOCKET_TYPE),
      ...whenEqual(SOCK_STREAM, [ALLOW]),
      ...whenEqual(SOCK_SEQPACKET, [ALLOW]),
      refuse(ESOCKTNOSUPPORT),
    ]),
    ...on("clone", [load(FIRST_ARGUMENT), and(NEW_NAMESPACES), ...whenEqual(0, [ALLOW]), refuse(EPERM)]),
    ...on("ioctl", [load(SECOND_ARGUMENT), ...whenEqual(TIOCSTI, [refuse(EPERM)]), ...whenEqual(TIOCLINUX, [refuse(EPERM)]), ALLOW]),
    ...on("chmod", plainModeOnly(SECOND_ARGUMENT)),
    ...on("fchmod", plainModeOnly(SECOND_ARGUMENT)),
    ...on("fchmodat", plainModeOnly(THIRD_ARGUMENT)),
    ...on("fchmodat2", plainModeOnly(THIRD_ARGUMENT)),
    ...on("creat", plainModeOnly(SECOND_ARGUMENT)),
    ...on("mknod", plainModeOnly(SECOND_ARGUMENT)),
    ...on("mknodat", plainModeOnly(THIRD_ARGUMENT)),
    ...on("open", [load(SECOND_ARGUMENT), and(MAKES_A_FILE), ...whenEqual(0, [ALLOW]), ...plainModeOnly(THIRD_ARGUMENT)]),
    ...on("openat", [load(THIRD_ARGUMENT), and(MAKES_A_FILE), ...whenEqual(0, [ALLOW]), ...plainModeOnly(FOURTH_ARGUMENT)]),
    ...ABSENT.flatMap((call) => on(call, [refuse(ENOSYS)])),
    ...FORBIDDEN.flatMap((call) => on(call, [refuse(EPERM)])),
    ALLOW,
  ]);
}

/** Allows the call where the mode has neither the set-user-id nor the set-group-id bit. */
function plainModeOnly(argument: number): Instruction[] {
  return [load(argument), and(S_ISUID_OR_S_ISGID), ...whenEqual(0, [ALLOW]), refuse(EPERM)];
}
