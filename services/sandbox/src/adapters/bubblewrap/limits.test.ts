import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";
import { findLimits } from "../limits/find-limits.ts";
import { resourceLimits } from "../limits/resource-limits.ts";

const limitsWholeSandbox = !findLimits("rlimit", process.getuid!()).perProcess;
let sandbox: TestSandbox;
const shell = (command: string, options = {}) => sandbox.run("shell_exec", { command }, options);

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

  it.skipIf(!limitsWholeSandbox)("processes left behind that use up the limit are ended (needs a cgroup)", async () => {
    const full = await shell("i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i+1)); done");
    expect(full).toMatchObject({ success: false, content: expect.stringContaining("process limit of the sandbox was reached") });
    expect((await shell("echo alive")).content).toBe("alive\n");
    expect((await shell("pgrep -x sleep")).exitCode).toBe(1);
  });

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
    await shell("pkill -9 -f '[B]uffer.alloc'");
  });

  it("58: endless output is cut at the limit and the program ended", async () => {
    const result = await shell("yes");
    expect(result).toMatchObject({ success: false, errorCode: "output_limit", truncated: true });
    expect(Buffer.byteLength(result.output)).toBe(2 * 1024 * 1024);
    expect((await shell("pgrep -x yes")).exitCode).toBe(1);
  });

  it("60: neither /tmp nor one file grows over its limit", async () => {
    const full = await shell("head -c 6000000 /dev/zero > /tmp/big");
    expect(full.success).toBe(false);
    expect(full.content).toContain("No space left");
    expect((await shell("rm /tmp/big; head -c 9000000 /dev/zero > /workspace/big")).success).toBe(false);
    expect((await shell("stat -c %s big; rm big")).content).toBe(`${8 * 1024 * 1024}\n`);
  });

  it("59: a daemon in a session of its own ends with the sandbox", async () => {
    const other = await openTestSandbox();
    await other.run("shell_exec", { command: "setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done' >/dev/null 2>&1 & echo ok" });
    await other.run("shell_exec", { command: "while [ ! -s beat ]; do sleep 0.01; done" });
    await other.stop();
    const last = readFileSync(`${other.workspace}/beat`, "utf8");
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(readFileSync(`${other.workspace}/beat`, "utf8")).toBe(last);
    await other.close();
  });

  it("a cancelled call ends with everything it started", async () => {
    const cancel = new AbortController();
    const result = await shell("echo begun; setsid sleep 300 & (sleep 300; true) & sleep 300", {
      signal: cancel.signal,
      onOutput: () => cancel.abort(),
    });
    expect(result).toMatchObject({ success: false, errorCode: "cancelled" });
    expect(result.content).toContain("begun");
    expect((await shell("pgrep -x sleep")).exitCode).toBe(1);
  });

  it("ends under a call: the call says so, and nothing of the sandbox is left", async () => {
    const other = await openTestSandbox();
    const began = Promise.withResolvers<string>();
    const running = other.run("shell_exec", { command: "echo begun; sleep 100" }, { onOutput: began.resolve });
    await began.promise;
    const killed = other.run("shell_exec", { command: "kill -9 $PPID" });
    expect(await running).toMatchObject({ success: false, errorCode: "unavailable", content: expect.stringContaining("new sandbox") });
    expect((await killed).errorCode).toBe("unavailable");
    await other.close();
  });

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

  it.skipIf(!existsSync("/sys/fs/cgroup/pids"))("removes its control groups (looks at cgroup v1)", async () => {
    const groups = (): string[] =>
      readdirSync("/sys/fs/cgroup/pids", { recursive: true })
        .map(String)
        .filter((name) => name.includes(`hlvm-sandbox-${process.pid}-`));
    const before = new Set(groups().map((name) => name.split("/")[0]));
    const other = await openTestSandbox();
    await other.run("shell_exec", { command: "true" });
    expect(new Set(groups().map((name) => name.split("/")[0])).size).toBe(before.size + 1);
    await other.close();
    expect(new Set(groups().map((name) => name.split("/")[0]))).toEqual(before);
  });
});
