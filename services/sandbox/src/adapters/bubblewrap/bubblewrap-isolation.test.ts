import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { testEnforcement } from "@hlvm/testing/test-identity";
import type { CommandWatch, SandboxRequest } from "../../domain/isolation.ts";
import { findTestBubblewrap } from "../../testing/find-test-bubblewrap.ts";
import { openTestIsolation } from "../../testing/open-test-sandbox.ts";
import { findLimits } from "../limits/find-limits.ts";
import { resourceLimits } from "../limits/resource-limits.ts";
import { LocalFolders } from "../local-folders.ts";
import type { BubblewrapIsolation } from "./bubblewrap-isolation.ts";

const list = { callId: "list", tool: "list_files", argumentsJson: "{}", timeoutMilliseconds: 10_000, enforcement: testEnforcement };
let folder: string;
let request: SandboxRequest;
const folders: string[] = [];

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-start-")));
  request = { sessionId: "start", workspace: await new LocalFolders([]).inspect(folder) };
  folders.push(folder);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const made of folders.splice(0)) rmSync(made, { recursive: true });
});

/** An isolation whose bwrap does not come up where the file `armed` is there. */
async function openWith(instead: string): Promise<BubblewrapIsolation> {
  const bubblewrap = await findTestBubblewrap();
  const path = join(folder, "bwrap");
  writeFileSync(path, `#!/bin/sh\n[ -e ${folder}/armed ] && { ${instead}; }\nexec ${bubblewrap.path} "$@"\n`, { mode: 0o755 });
  const { isolation, stateDirectory } = await openTestIsolation({ bubblewrap: { ...bubblewrap, path } });
  folders.push(stateDirectory);
  return isolation;
}

/** Whether a sandbox can be started, and what it is made for runs. */
async function works(isolation: BubblewrapIsolation): Promise<boolean> {
  const sandbox = await isolation.startCommand(request, "open");
  return (await sandbox.run({ text: "exit 7", directory: "/workspace" }, watch())).exitCode === 7;
}

function childrenOf(processId: number): number[] {
  return readdirSync(`/proc/${processId}/task`).flatMap((task) =>
    readFileSync(`/proc/${processId}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}

function descendantsOf(processId: number): number[] {
  return childrenOf(processId).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Those of bwrap, above it, end in the same words. */
function runnerProcess(): number {
  return descendantsOf(process.pid).findLast((id) => readFileSync(`/proc/${id}/cmdline`, "latin1").endsWith("/opt/hlvm/runner.cjs\0"))!;
}

/** Not ended: who has ended may be there until its new parent asks after it. */
function isRunning(processId: number): boolean {
  const path = `/proc/${processId}/status`;
  return existsSync(path) && !/^State:\s+[ZX]/m.test(readFileSync(path, "latin1"));
}

function watch(): CommandWatch {
  return { signal: new AbortController().signal, onOutput: () => true };
}

describe("the start of a sandbox", () => {
  it("is given up where bwrap does not come up in time, and leaves nothing taken", async () => {
    const isolation = await openWith(`: > ${folder}/waits; exec /bin/sleep 1000`);
    writeFileSync(join(folder, "armed"), "");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const starting = isolation.startCommand(request, "open");
    starting.catch(() => undefined);
    while (!existsSync(join(folder, "waits"))) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    await expect(starting).rejects.toMatchObject({ reason: "sandbox_not_started", message: expect.stringContaining("not up within 10 s") });
    vi.useRealTimers();
    rmSync(join(folder, "armed"));
    await expect.poll(() => works(isolation)).toBe(true);
  });

  it("says what bwrap says, and leaves nothing taken", async () => {
    const isolation = await openWith("echo bwrap: no such thing >&2; exit 1");
    writeFileSync(join(folder, "armed"), "");
    for (const start of [() => isolation.startCommand(request, "open"), () => isolation.startRunner(request)])
      await expect(start()).rejects.toMatchObject({
        reason: "sandbox_not_started",
        message: `The sandbox for ${folder} could not be started: bwrap: no such thing.`,
      });
    rmSync(join(folder, "armed"));
    expect(await works(isolation)).toBe(true);
  });

  it("fails clearly where its limits cannot be set, and leaves nothing taken", async () => {
    let isRefused = false;
    const createGroup: typeof resourceLimits.createGroup = (values) => {
      if (isRefused) throw new Error("ENOSPC: no space left on device, mkdir");
      return resourceLimits.createGroup(values);
    };
    const { isolation, stateDirectory } = await openTestIsolation({ limits: { ...resourceLimits, createGroup } });
    folders.push(stateDirectory);
    isRefused = true;
    await expect(isolation.startCommand(request, "open")).rejects.toMatchObject({ code: "unavailable", reason: "sandbox_not_started" });
    isRefused = false;
    expect(await works(isolation)).toBe(true);
  });
});

it("ends the sandboxes of a process that starts them with it, and starts a new one for the next", async () => {
  const { isolation, stateDirectory } = await openTestIsolation();
  folders.push(stateDirectory);
  const standing = await isolation.startCommand(request, "open");
  const runner = await isolation.startRunner(request);
  const spawner = childrenOf(process.pid).findLast((child) => readFileSync(`/proc/${child}/cmdline`, "latin1").includes("spawner-process"));
  const inside = childrenOf(spawner!).flatMap((bubblewrap) => [bubblewrap, ...childrenOf(bubblewrap)]);
  expect(inside.length).toBeGreaterThanOrEqual(4);
  process.kill(spawner!, "SIGKILL");
  await Promise.all([standing.ended, runner.ended]);
  await expect(standing.run({ text: "true", directory: "/workspace" }, watch())).resolves.not.toHaveProperty("exitCode");
  await expect.poll(() => inside.filter(isRunning)).toEqual([]);
  expect(await works(isolation)).toBe(true);
  const next = await isolation.startRunner(request);
  expect(await next.run(list, new AbortController().signal)).toMatchObject({ success: true });
  await isolation.close();
});

describe("the runner's program", () => {
  it.for([{ owner: "of the service's user" }, { owner: "of somebody else (needs root)", userId: 12_345 }])(
    "is the prepared file, which nothing inside can write, for a workspace $owner",
    async ({ userId }, { skip }) => {
      if (userId !== undefined) {
        skip(process.getuid!() !== 0);
        chownSync(folder, userId, userId);
      }
      const { isolation, stateDirectory } = await openTestIsolation();
      folders.push(stateDirectory);
      const runner = await isolation.startRunner(request);
      expect(await runner.run(list, new AbortController().signal)).toMatchObject({ success: true });
      const node = descendantsOf(process.pid).findLast((id) =>
        readFileSync(`/proc/${id}/cmdline`, "latin1").endsWith("/opt/hlvm/runner.cjs\0"),
      );
      const mounts = readFileSync(`/proc/${node}/mountinfo`, "utf8").split("\n");
      const [mount, ...others] = mounts.filter((line) => line.includes(" /opt/hlvm/runner"));
      expect(mount).toMatch(/ \/opt\/hlvm\/runner\.cjs ro,/);
      expect(others).toEqual([]);
      expect(() => writeFileSync(`/proc/${node}/root/opt/hlvm/runner.cjs`, "")).toThrow("EROFS");
      await runner.close();
      await isolation.close();
    },
  );

  it("is nowhere in the sandbox of a command", async () => {
    const { isolation, stateDirectory } = await openTestIsolation();
    folders.push(stateDirectory);
    const command = await isolation.startCommand(request, "open");
    expect(await command.run({ text: "test -e /opt/hlvm/runner.cjs", directory: "/workspace" }, watch())).toMatchObject({ exitCode: 1 });
    await isolation.close();
  });
});

it("answers a call that comes after the end of its sandbox", async () => {
  const { isolation, stateDirectory } = await openTestIsolation();
  folders.push(stateDirectory);
  const runner = await isolation.startRunner(request);
  await runner.close();
  expect(await runner.run(list, new AbortController().signal)).toMatchObject({ success: false, errorCode: "unavailable" });
});

it.skipIf(findLimits("rlimit", process.getuid!()).perProcess)("has a runner in a group of its own (needs a cgroup)", async () => {
  const { isolation, stateDirectory } = await openTestIsolation();
  folders.push(stateDirectory);
  const runner = await isolation.startRunner(request);
  const own = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const differing = readFileSync(`/proc/${runnerProcess()}/cgroup`, "utf8")
    .split("\n")
    .filter((line) => !own.includes(line));
  expect(differing.length).toBeGreaterThanOrEqual(1);
  await runner.close();
  await isolation.close();
});

it("leaves no folder where isolation cannot be opened", async () => {
  vi.stubEnv("TMPDIR", folder);
  await expect(openTestIsolation({ bubblewrap: { path: "/bin/false", version: "0.8.0" } })).rejects.toMatchObject({
    reason: "isolation_unavailable",
  });
  expect(readdirSync(folder)).toEqual([]);
});
