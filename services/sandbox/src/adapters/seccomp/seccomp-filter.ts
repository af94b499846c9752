import { absentCalls } from "./absent-calls.ts";
import { allowedCalls } from "./allowed-calls.ts";
import { and, assemble, chooseRange, giveBack, load, unlessEqual, whenAtLeast, whenEqual, type Instruction, type Range } from "./bpf.ts";
import { refusedCalls } from "./refused-calls.ts";
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
const EPROTONOSUPPORT = 93;
const ESOCKTNOSUPPORT = 94;
const EAFNOSUPPORT = 97;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** The rest of the argument are flags. */
const SOCKET_TYPE = 0xf;
const SOCK_STREAM = 1;
/** The first type above those of the protocols below. */
const SOCK_RDM = 4;
const SOCK_SEQPACKET = 5;
/** The protocol that the type implies, ICMP, TCP, UDP and ICMPv6. */
const PROTOCOLS = [0, 1, 6, 17, 58];
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCSETD = 0x5423;
/** That of Linux, that of 32-bit Linux, and the question which it is. */
const PERSONALITIES = [0, 8, 0xffffffff];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** On x86_64 a second, 32-bit-pointer table of calls begins here. */
const X32_CALLS = 0x40000000;

const S_ISUID_OR_S_ISGID = 0o6000;
/** O_CREAT, and the bit that only O_TMPFILE has: without them there is no mode. */
const MAKES_A_FILE = 0o100 | 0o20000000;

/** How a call is answered. Neighbouring numbers that share one (the very same) are decided together. */
type Verdict = readonly Instruction[];
const ALLOWED: Verdict = [ALLOW];
const REFUSED: Verdict = [refuse(EPERM)];
const ABSENT: Verdict = [refuse(ENOSYS)];
const SECOND_IS_PLAIN_MODE: Verdict = plainModeOnly(SECOND_ARGUMENT);
const THIRD_IS_PLAIN_MODE: Verdict = plainModeOnly(THIRD_ARGUMENT);

/** Of the allowed calls, those that are allowed with certain arguments only. */
const ARGUMENT_RULES: Readonly<Partial<Record<SystemCall, Verdict>>> = {
  socket: [
    load(FIRST_ARGUMENT),
    ...unlessEqual(AF_INET, unlessEqual(AF_INET6, [refuse(EAFNOSUPPORT)])),
    load(SECOND_ARGUMENT),
    and(SOCKET_TYPE),
    ...whenAtLeast(SOCK_RDM, [refuse(ESOCKTNOSUPPORT)]),
    load(THIRD_ARGUMENT),
    ...PROTOCOLS.flatMap((protocol) => whenEqual(protocol, [ALLOW])),
    refuse(EPROTONOSUPPORT),
  ],
  socketpair: [
    load(FIRST_ARGUMENT),
    ...unlessEqual(AF_UNIX, [refuse(EAFNOSUPPORT)]),
    load(SECOND_ARGUMENT),
    and(SOCKET_TYPE),
    ...whenEqual(SOCK_STREAM, [ALLOW]),
    ...whenEqual(SOCK_SEQPACKET, [ALLOW]),
    refuse(ESOCKTNOSUPPORT),
  ],
  clone: [load(FIRST_ARGUMENT), and(NEW_NAMESPACES), ...whenEqual(0, [ALLOW]), refuse(EPERM)],
  ioctl: [load(SECOND_ARGUMENT), ...[TIOCSTI, TIOCLINUX, TIOCSETD].flatMap((command) => whenEqual(command, [refuse(EPERM)])), ALLOW],
  personality: [load(FIRST_ARGUMENT), ...PERSONALITIES.flatMap((personality) => whenEqual(personality, [ALLOW])), refuse(EPERM)],
  chmod: SECOND_IS_PLAIN_MODE,
  fchmod: SECOND_IS_PLAIN_MODE,
  fchmodat: THIRD_IS_PLAIN_MODE,
  fchmodat2: THIRD_IS_PLAIN_MODE,
  creat: SECOND_IS_PLAIN_MODE,
  mknod: SECOND_IS_PLAIN_MODE,
  mknodat: THIRD_IS_PLAIN_MODE,
  open: [load(SECOND_ARGUMENT), and(MAKES_A_FILE), ...whenEqual(0, [ALLOW]), ...THIRD_IS_PLAIN_MODE],
  openat: [load(THIRD_ARGUMENT), and(MAKES_A_FILE), ...whenEqual(0, [ALLOW]), ...plainModeOnly(FOURTH_ARGUMENT)],
};

/**
 * The filter for everything that runs in a sandbox: what is not in allowed-calls.ts is not called. Of what is, no socket
 * but for the loopback's internet protocols (a Unix socket would reach through the workspace to daemons outside, and other
 * protocols and line disciplines load modules of the kernel), no new namespace, and no file that runs with its owner's
 * rights (in a workspace of root's it would give those away on the machine outside). Pairs of Unix sockets without a name
 * stay: pipes of Node are made of them. Those of datagrams do not: an end of one can send to any socket that has a name.
 *
 * A call that is refused gives EPERM; one that programs do without, and any number that no list has (the call is newer than
 * the lists) gives ENOSYS, at which the C library and Node take an older way.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  const verdicts = new Map<number, Verdict>();
  const decide = (calls: object, verdictOf: (call: SystemCall) => Verdict): void => {
    for (const call of Object.keys(calls) as SystemCall[]) {
      const number = systemCallNumber(call, architecture);
      if (number !== undefined) verdicts.set(number, verdictOf(call));
    }
  };
  decide(allowedCalls, (call) => ARGUMENT_RULES[call] ?? ALLOWED);
  decide(refusedCalls, () => REFUSED);
  decide(absentCalls, () => ABSENT);
  const x32: Range[] = architecture === "x64" ? [{ from: X32_CALLS, block: [KILL_PROCESS] }] : [];
  return assemble([
    load(ARCHITECTURE),
    ...unlessEqual(auditArchitectures[architecture], [KILL_PROCESS]),
    load(NUMBER),
    ...chooseRange([...rangesOf(verdicts), ...x32]),
  ]);
}

/** Neighbours with the same verdict become one range; the last one, of numbers that are not known, has no end. */
function rangesOf(verdicts: ReadonlyMap<number, Verdict>): Range[] {
  const ranges: Range[] = [];
  const unknown = Math.max(...verdicts.keys()) + 1;
  for (let number = 0; number <= unknown; number++) {
    const block = verdicts.get(number) ?? ABSENT;
    if (ranges.at(-1)?.block !== block) ranges.push({ from: number, block });
  }
  return ranges;
}

/** Allows the call where the mode has neither the set-user-id nor the set-group-id bit. */
function plainModeOnly(argument: number): Instruction[] {
  return [load(argument), and(S_ISUID_OR_S_ISGID), ...whenEqual(0, [ALLOW]), refuse(EPERM)];
}
