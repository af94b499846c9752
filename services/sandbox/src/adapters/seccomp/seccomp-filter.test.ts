import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALLOWED, interpretFilter, KILLED, type Interpretation } from "../../testing/interpret-filter.ts";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";
import { runFiltered } from "../../testing/run-filtered.ts";
import { absentCalls } from "./absent-calls.ts";
import { allowedCalls } from "./allowed-calls.ts";
import { refusedCalls } from "./refused-calls.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { auditArchitectures, systemCallNumber, type Architecture, type SystemCall } from "./system-calls.ts";

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const ESOCKTNOSUPPORT = 94;
const EAFNOSUPPORT = 97;
/** Beyond the last number that any list has. */
const NUMBERS = Array.from({ length: 601 }, (_, number) => number);

function judge(program: Buffer, architecture: number, number: number, ...given: number[]): Interpretation["verdict"] {
  return interpretFilter(program, architecture, number, given).verdict;
}

describe.each(["x64", "arm64"] as const)("the filter for %s", (architecture: Architecture) => {
  const program = seccompFilter(architecture);
  const call = (name: SystemCall, ...given: number[]): string | number =>
    judge(program, auditArchitectures[architecture], systemCallNumber(name, architecture)!, ...given);

  it("kills what speaks another calling convention", () => {
    expect(judge(program, 0x40000003, 1)).toBe(KILLED);
    expect(judge(seccompFilter("x64"), auditArchitectures.x64, 0x40000000 + 41, 1)).toBe(KILLED);
  });

  it("lets ordinary calls through", () => {
    for (const number of architecture === "x64" ? [0, 1, 57, 59, 202] : [57, 63, 64, 221])
      expect(judge(program, auditArchitectures[architecture], number)).toBe(ALLOWED);
  });

  it("answers each number as the lists say, and one that they lack as a kernel does that is older", () => {
    const listed = new Map<number | undefined, Interpretation["verdict"]>();
    for (const name of Object.keys(allowedCalls) as SystemCall[]) listed.set(systemCallNumber(name, architecture), ALLOWED);
    for (const name of Object.keys(refusedCalls) as SystemCall[]) listed.set(systemCallNumber(name, architecture), EPERM);
    for (const name of Object.keys(absentCalls) as SystemCall[]) listed.set(systemCallNumber(name, architecture), ENOSYS);
    // All arguments are zero, and no socket has the family zero.
    for (const name of ["socket", "socketpair"] as const) listed.set(systemCallNumber(name, architecture), EAFNOSUPPORT);
    expect(NUMBERS.map((number) => [number, judge(program, auditArchitectures[architecture], number)])).toEqual(
      NUMBERS.map((number) => [number, listed.get(number) ?? ENOSYS]),
    );
  });

  it("decides an everyday call in 12 instructions at most", () => {
    for (const name of ["read", "write", "close", "fstat", "futex", "mmap", "getppid", "statx", "epoll_pwait", "wait4"] as const) {
      const number = systemCallNumber(name, architecture)!;
      expect(interpretFilter(program, auditArchitectures[architecture], number, []).instructions).toBeLessThanOrEqual(12);
    }
  });

  it("opens internet sockets only", () => {
    for (const [family, verdict] of [
      [1, EAFNOSUPPORT],
      [2, ALLOWED],
      [10, ALLOWED],
      [16, EAFNOSUPPORT],
      [17, EAFNOSUPPORT],
      [38, EAFNOSUPPORT],
      [40, EAFNOSUPPORT],
    ] as const)
      expect(call("socket", family)).toBe(verdict);
  });

  it("opens sockets of the everyday protocols only: others load modules of the kernel", () => {
    const [STREAM, DATAGRAM, RAW, SEQUENCED, DCCP, NONBLOCK, CLOEXEC] = [1, 2, 3, 5, 6, 0o4000, 0o2000000];
    for (const [type, protocol] of [
      [STREAM, 6],
      [DATAGRAM, 17],
      [DATAGRAM, 1],
      [DATAGRAM, 58],
      [STREAM | NONBLOCK | CLOEXEC, 0],
      [RAW, 1],
    ] as const)
      expect(call("socket", 2, type, protocol)).toBe(ALLOWED);
    for (const type of [SEQUENCED, DCCP, SEQUENCED | CLOEXEC]) expect(call("socket", 10, type)).toBe(ESOCKTNOSUPPORT);
    // L2TP, SCTP, UDP-Lite, SMC and MPTCP.
    for (const protocol of [115, 132, 136, 256, 262]) expect(call("socket", 2, STREAM, protocol)).toBe(EPROTONOSUPPORT);
  });

  it("stays with the personality that the machine has", () => {
    for (const value of [0, 8, 0xffffffff]) expect(call("personality", value)).toBe(ALLOWED);
    // Old addresses of a process, pages that can be run because they can be read, another Unix's calls.
    for (const value of [0x0040000, 0x0400000, 0x0100000, 0x0020000, 6]) expect(call("personality", value)).toBe(EPERM);
  });

  it("makes pairs of Unix sockets that speak with each other only", () => {
    const [STREAM, DATAGRAM, RAW, SEQUENCED, NONBLOCK, CLOEXEC] = [1, 2, 3, 5, 0o4000, 0o2000000];
    for (const type of [STREAM, SEQUENCED, STREAM | NONBLOCK | CLOEXEC]) expect(call("socketpair", 1, type)).toBe(ALLOWED);
    for (const type of [DATAGRAM, RAW, DATAGRAM | CLOEXEC, DATAGRAM | 0x10]) expect(call("socketpair", 1, type)).toBe(ESOCKTNOSUPPORT);
    // TIPC, which would load a module of the kernel.
    expect(call("socketpair", 30, STREAM)).toBe(EAFNOSUPPORT);
  });

  it("starts processes, but in no new namespace", () => {
    expect(call("clone", 0x3d0f00)).toBe(ALLOWED);
    for (const flag of [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
      expect(call("clone", flag | 17)).toBe(EPERM);
    expect(call("clone3")).toBe(ENOSYS);
    expect(call("unshare", 0x10000000)).toBe(EPERM);
    expect(call("setns")).toBe(EPERM);
  });

  it("makes no file that runs with its owner's rights", () => {
    expect(call("fchmod", 3, 0o755)).toBe(ALLOWED);
    expect(call("fchmod", 3, 0o4755)).toBe(EPERM);
    expect(call("fchmodat", 3, 0, 0o2755)).toBe(EPERM);
    expect(call("fchmodat2", 3, 0, 0o4755)).toBe(EPERM);
    expect(call("mknodat", 3, 0, 0o104755)).toBe(EPERM);
    expect(call("openat", 3, 0, 0o101, 0o4755)).toBe(EPERM);
    expect(call("openat", 3, 0, 0o101, 0o644)).toBe(ALLOWED);
    // Without O_CREAT the fourth register holds whatever was in it.
    expect(call("openat", 3, 0, 0, 0o4755)).toBe(ALLOWED);
    expect(call("openat2")).toBe(ENOSYS);
  });

  it("pushes nothing into a terminal", () => {
    expect(call("ioctl", 0, 0x5401)).toBe(ALLOWED);
    expect(call("ioctl", 0, 0x5412)).toBe(EPERM);
    expect(call("ioctl", 0, 0x541c)).toBe(EPERM);
    // A line discipline is a module of the kernel.
    expect(call("ioctl", 0, 0x5423)).toBe(EPERM);
    // The kernel looks at 32 bits only; the upper half does not hide the command.
    expect(call("ioctl", 0, 0x100005412)).toBe(EPERM);
  });
});

/** [call, arguments in perl, errno]: arguments with which the call would do something else where no filter stood. */
const CALLS: readonly (readonly [name: SystemCall, given: string, errno: number])[] = [
  ["socket", "1, 1, 0", EAFNOSUPPORT],
  ["socket", "16, 3, 0", EAFNOSUPPORT],
  ["socket", "17, 3, 0", EAFNOSUPPORT],
  ["socket", "40, 1, 0", EAFNOSUPPORT],
  ["socketpair", "1, 2, 0, 0", ESOCKTNOSUPPORT],
  ["socketpair", "30, 1, 0, 0", EAFNOSUPPORT],
  ["unshare", "0x10000000", EPERM],
  ["unshare", "0", EPERM],
  ["clone", "0x10000011, 0, 0, 0, 0", EPERM],
  ["clone3", "0, 0", ENOSYS],
  ["setns", "-1, 0", EPERM],
  ["io_uring_setup", "1, 0", ENOSYS],
  ["ptrace", "0, 0, 0, 0", EPERM],
  ["process_vm_readv", "$$, 0, 0, 0, 0, 0", EPERM],
  ["process_vm_writev", "$$, 0, 0, 0, 0, 0", EPERM],
  ["keyctl", "0, -3, 0", EPERM],
  ["add_key", "0, 0, 0, 0, 0", EPERM],
  ["request_key", "0, 0, 0, 0", EPERM],
  ["bpf", "99, 0, 0", EPERM],
  ["perf_event_open", "0, 0, 0, 0, 0", EPERM],
  ["userfaultfd", "-1", EPERM],
  ["mount", "0, 0, 0, 0, 0", EPERM],
  ["umount2", "0, 0", EPERM],
  ["fsopen", "0, 0", EPERM],
  ["chroot", "0", EPERM],
  ["kexec_load", "0, 0, 0, 0", EPERM],
  ["finit_module", "-1, 0, 0", EPERM],
  ["openat2", "0, 0, 0, 0", ENOSYS],
  ["ioctl", "0, 0x5412, 0", EPERM],
  ["ioctl", "0, 0x541c, 0", EPERM],
  ["ioctl", "0, 0x5423, 0", EPERM],
  ["socket", "2, 1, 132", EPROTONOSUPPORT],
  ["socket", "2, 5, 0", ESOCKTNOSUPPORT],
  ["personality", "0x0040000", EPERM],
  ["name_to_handle_at", "-1, 0, 0, 0, 0", EPERM],
  ["fanotify_mark", "-1, 0, 0, 0, 0", EPERM],
  ["vmsplice", "-1, 0, 0, 0", EPERM],
  ["modify_ldt", "99, 0, 0", EPERM],
  ["pidfd_getfd", "-1, 0, 0", EPERM],
  ["process_mrelease", "-1, 0", EPERM],
  ["adjtimex", "0", EPERM],
  ["io_setup", "1, 0", ENOSYS],
  ["memfd_secret", "-1", ENOSYS],
  ["get_mempolicy", "0, 0, 0, 0, 99", ENOSYS],
];

/** The filter, with errors that no call gives by itself: whatever gives one of them was stopped by the filter. */
const MARK = 3_000;
function withMarkedErrors(filter: Buffer): Buffer {
  const marked = Buffer.from(filter);
  for (let at = 0; at < marked.length; at += 8) {
    const operand = marked.readUInt32LE(at + 4);
    if (marked.readUInt16LE(at) === 0x06 && operand >>> 16 === 5) marked.writeUInt32LE(operand + MARK, at + 4);
  }
  return marked;
}

describe.skipIf(process.arch !== "x64" && process.arch !== "arm64")("in this machine's kernel", () => {
  const architecture = process.arch as Architecture;
  const filter = seccompFilter(architecture);

  it("every call that is not allowed is stopped by the filter, and with the error that the lists say", async () => {
    const allowed = new Set((Object.keys(allowedCalls) as SystemCall[]).map((name) => systemCallNumber(name, architecture)));
    // From Linux 6.18 on, uprobe passes every filter: the kernel has it called itself, by programs that are traced.
    const stopped = NUMBERS.filter((number) => !allowed.has(number) && number !== systemCallNumber("uprobe", architecture));
    const program = 'for (@ARGV) { my $r = syscall($_ + 0, 0, 0, 0, 0, 0, 0); print "$_ ", $r == -1 ? $! + 0 : "done", "\\n" }';
    const run = await runFiltered(withMarkedErrors(filter), `perl -e '${program}' ${stopped.join(" ")}`);
    expect(run.errors).toBe("");
    expect(run.output.trimEnd().split("\n")).toEqual(
      stopped.map((number) => `${number} ${MARK + Number(judge(filter, auditArchitectures[architecture], number))}`),
    );
  });

  it.skipIf(architecture !== "x64")("a call with the number of another calling convention ends the program", async () => {
    // getpid of x32; 159 is what a shell says of a program that SIGSYS ended.
    expect((await runFiltered(filter, "perl -e 'syscall(0x40000027)'; echo $?")).output).toBe("159\n");
  });
});

describe("inside a sandbox", () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openTestSandbox();
  });
  afterAll(() => sandbox.close());

  // Skipped where the numbers of the calls are not known; there is no sandbox on such a machine either.
  it.skipIf(process.arch !== "x64" && process.arch !== "arm64").each(CALLS)("%s(%s) gives error %i", async (name, given, errno) => {
    const number = systemCallNumber(name, process.arch as Architecture);
    const result = await sandbox.run("shell_exec", {
      command: `perl -e 'my $r = syscall(${number}, ${given}); print $r == -1 ? $!+0 : "done"'`,
    });
    expect(result.content).toBe(String(errno));
  });

  it("makes no set-user-id file", async () => {
    const result = await sandbox.run("shell_exec", {
      command: "cp /bin/true t; chmod u+s t; chmod 6755 t; stat -c %a t; chmod 711 t; stat -c %a t",
    });
    expect(result.content.split("\n").filter((line) => /^\d+$/.test(line))).toEqual(["755", "711"]);
  });

  it("keeps pairs of sockets and internet sockets on loopback working", async () => {
    const script =
      'const s=require("net").createServer(c=>c.end("ok")).listen(0,"127.0.0.1",()=>require("net").connect(s.address().port,"127.0.0.1").on("data",d=>{console.log(String(d));s.close()}))';
    expect((await sandbox.run("shell_exec", { command: `/opt/hlvm/bin/node -e '${script}'` })).content).toBe("ok\n");
    expect(
      (
        await sandbox.run("shell_exec", {
          command: '/opt/hlvm/bin/node -e \'console.log(String(require("child_process").execFileSync("echo",["pair"])))\'',
        })
      ).content,
    ).toBe("pair\n\n");
  });
});
