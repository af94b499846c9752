import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";
import { findLimits } from "../limits/find-limits.ts";
import { resourceLimits } from "../limits/resource-limits.ts";

const limits = findLimits("rlimit", process.getuid!());
/** Tests of limits that hold for a sandbox as a whole are skipped where this machine limits each process by itself. */
const limitsWholeSandbox = !limits.perProcess;
let sandbox: TestSandbox;
const shell = (command: string, options = {}) => sandbox.run("shell_exec", { command }, options);

/** A named pipe in the workspace, held open so that neither end waits for the other to open it. */
function openFifo(name: string): number {
  const path = join(sandbox.workspace, name);
  execFileSync("mkfifo", [path]);
  return openSync(path, "r+");
}

/** Of all processes of this machine. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((processId) => {
      try {
        return readFileSync(`/proc/${processId}/cmdline`, "latin1").replaceAll("\0", " ");
      } catch {
        return "";
      }
    });
}

beforeAll(async () => {
  sandbox = await openTestSandbox({ processes: 48, memoryMebibytes: 256, fileMebibytes: 8, temporaryMebibytes: 4 });
});
afterAll(() => sandbox.close());

describe("resources of a sandbox", () => {
  it("56: a fork bomb is capped, and the session works again after it", async () => {
    await shell("bomb() { bomb | bomb & }; bomb; sleep 1");
    expect((await shell("echo alive")).content).toBe("alive\n");
    const count = await shell("ls -d /proc/[0-9]* | wc -l");
    expect(Number(count.content)).toBeLessThan(48);
  });

  it.skipIf(!limitsWholeSandbox)(
    "a command that uses up the processes is told so, and the next one has its own (needs a cgroup)",
    async () => {
      const full = await shell("i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i+1)); done");
      expect(full).toMatchObject({ success: false, content: expect.stringContaining("process limit of the sandbox was reached") });
      expect((await shell("echo alive")).content).toBe("alive\n");
      expect(commandLines().filter((line) => line === "sleep 300 ")).toEqual([]);
    },
  );

  it.skipIf(!limitsWholeSandbox)("57: memory over the limit ends the program and is told as out of memory (needs a cgroup)", async () => {
    const hog = "/opt/hlvm/bin/node --max-old-space-size=4096 -e 'const held=[];for(;;)held.push(Buffer.alloc(16<<20,1))'";
    const result = await shell(hog);
    expect(result).toMatchObject({ success: false, errorCode: "out_of_memory", content: expect.stringContaining("memory limit") });
    expect((await shell("echo alive")).content).toBe("alive\n");
  });

  it.skipIf(!limitsWholeSandbox)("many small programs share the one limit (needs a cgroup)", async () => {
    const hog = "/opt/hlvm/bin/node -e 'const held=Buffer.alloc(70<<20,1);setTimeout(()=>held,2000)'";
    const result = await shell(`${hog} & ${hog} & ${hog} & ${hog} & wait %1 && wait %2 && wait %3 && wait %4`);
    expect(result).toMatchObject({ success: false, errorCode: "out_of_memory" });
  });

  it("58: endless output is cut, and its program ended at the time limit", async () => {
    const result = await sandbox.run("shell_exec", { command: "yes", timeout_seconds: 1 });
    expect(result).toMatchObject({ success: false, errorCode: "timeout", truncated: true });
    expect(Buffer.byteLength(result.output)).toBe(2 * 1024 * 1024);
    expect(Buffer.byteLength(result.content)).toBeLessThan(31 * 1024);
    expect(commandLines()).not.toContain("yes ");
  });

  it("60: neither /tmp nor one file grows over its limit", async () => {
    const full = await shell("head -c 6000000 /dev/zero > /tmp/big");
    expect(full.success).toBe(false);
    expect(full.content).toContain("No space left");
    expect((await shell("rm /tmp/big; head -c 9000000 /dev/zero > /workspace/big")).success).toBe(false);
    expect((await shell("stat -c %s big; rm big")).content).toBe(`${8 * 1024 * 1024}\n`);
  });

  it("59: a daemon in a session of its own ends with its command", async () => {
    const marker = `daemon-${randomUUID()}`;
    const daemon = `setsid sh -c 'while :; do sleep 0.02; done' ${marker} >/dev/null 2>&1 &`;
    const result = await shell(`${daemon} sleep 0.1; tr '\\0' ' ' < /proc/$!/cmdline`);
    expect(result.content).toContain(marker);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
  });

  it("a cancelled call ends with everything it started", async () => {
    const cancel = new AbortController();
    const result = await shell("echo begun; setsid sleep 300 & (sleep 300; true) & sleep 300", {
      signal: cancel.signal,
      onOutput: () => cancel.abort(),
    });
    expect(result).toMatchObject({ success: false, errorCode: "cancelled" });
    expect(result.content).toContain("begun");
    expect(commandLines().filter((line) => line === "sleep 300 ")).toEqual([]);
  });

  it.each([
    ["cancelled", {}],
    ["timeout", { timeout_seconds: 1 }],
  ])("what has detached itself from a call ends with it (%s)", async (errorCode, limit) => {
    const cancel = new AbortController();
    const onOutput = (): void => (errorCode === "cancelled" ? cancel.abort() : undefined);
    const command =
      "(setsid sh -c 'while :; do date >> beat; sleep 0.02; done' &); while [ ! -s beat ]; do sleep 0.01; done; echo begun; sleep 60";
    const result = await sandbox.run("shell_exec", { command, ...limit }, { signal: cancel.signal, onOutput });
    expect(result).toMatchObject({ success: false, errorCode, content: expect.stringContaining("begun") });
    expect(commandLines().filter((line) => line.includes("date >> beat"))).toEqual([]);
    rmSync(join(sandbox.workspace, "beat"));
  });

  it("a command does not end another one, whatever it does", async () => {
    const go = openFifo("go");
    const begun = Promise.withResolvers<string>();
    const other = shell("(sleep 300 &); echo begun; read line < go; echo $line", { onOutput: begun.resolve });
    await begun.promise;
    expect((await shell("kill -9 -1; for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done; kill -9 $$")).exitCode).toBe(137);
    const cancel = new AbortController();
    const cancelled = await shell("echo begun; sleep 60", { signal: cancel.signal, onOutput: () => cancel.abort() });
    expect(cancelled.errorCode).toBe("cancelled");
    writeSync(go, "lived\n");
    expect((await other).content).toBe("begun\nlived\n");
    closeSync(go);
    rmSync(join(sandbox.workspace, "go"));
  });

  // Skipped for everybody but root, who alone may give the workspace to another user; these limits do not bind root's own.
  it.skipIf(process.getuid!() !== 0)(
    "56, where there is no cgroup: the sandbox's own user has a limit of processes (needs root, to be another user)",
    async () => {
      const workspace = mkdtempSync(join(tmpdir(), "hlvm-workspace-"));
      chownSync(workspace, 12_345, 12_345);
      const other = await openTestSandbox({ processes: 48, limits: resourceLimits }, workspace);
      await other.run("shell_exec", { command: "bomb() { bomb | bomb & }; bomb; sleep 1" });
      expect((await other.run("shell_exec", { command: "echo alive; ulimit -d" })).content).toBe(`alive\n${1024 * 1024}\n`);
      await other.close();
    },
  );

  // Skipped where the limits are not cgroup v1's: the groups are looked for in its tree.
  it.skipIf(limits.name !== "cgroup v1")("removes its control groups (looks at cgroup v1)", async () => {
    const find = `find /sys/fs/cgroup/pids -name 'hlvm-sandbox-${process.pid}-*' 2>/dev/null`;
    const groups = (): string => spawnSync("/bin/sh", ["-c", find], { encoding: "utf8" }).stdout;
    await shell("true");
    expect(groups()).not.toBe("");
    await sandbox.stop();
    await sandbox.isolation.close();
    await expect.poll(groups).toBe("");
  });
});
