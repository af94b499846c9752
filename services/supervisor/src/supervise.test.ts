import { fork } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { referenceMesh } from "@hlvm/mesh/reference-mesh";
import { meshStateFile, readMeshState, type MeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { rotateKeys } from "@hlvm/mesh/rotate-keys";
import { startLocked } from "@hlvm/mesh/start-locked";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import type { Lifetime } from "@hlvm/mesh/lifetime";
import { isRunning, processesEnded } from "./testing/process-ended.ts";

const MAIN = fileURLToPath(new URL("testing/fake-supervisor.ts", import.meta.url));

let directory: string;
let started: MeshState[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-supervise-"));
  started = [];
  process.env.HLVM_PORT = "0";
});

afterEach(async () => {
  delete process.env.HLVM_PORT;
  delete process.env.HLVM_HOST;
  delete process.env.FAKE_BEHAVIOUR;
  for (const state of started) await stopMesh(state.controlSocket).catch(() => undefined);
  rmSync(directory, { recursive: true });
});

async function start(lifetime: Lifetime): Promise<MeshState> {
  const state = await startLocked(MAIN, { directory, lifetime, onProgress: () => undefined });
  started.push(state);
  return state;
}

function pidsOf(state: MeshState): number[] {
  return [state.supervisorPid, ...state.services.map(({ pid }) => pid!)];
}

/** The supervisor and its services, which have the directory for their working directory. */
function runningIn(folder: string): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && workingDirectoryOf(name) === folder);
}

function workingDirectoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Without how the services are, which may be another from one moment to the next. */
function placesOf({ services, ...mesh }: MeshState): unknown {
  return { ...mesh, services: services.map(({ name, pid, port, logFile }) => ({ name, pid, port, logFile })) };
}

const supervisorLog = (): string => readFileSync(join(directory, "logs", "supervisor.log"), "utf8");

describe("the supervisor", () => {
  it("says where everything is, in a file for its owner alone", async () => {
    const state = await start("foreground");
    expect(placesOf(readMeshState(directory)!)).toEqual(placesOf(state));
    expect(statSync(meshStateFile(directory)).mode & 0o777).toBe(0o600);
    expect(state.services.map(({ name }) => name)).toEqual(["policy", "edge"]);
    expect(state.edgeUrl).toBe(`http://127.0.0.1:${state.services[1]?.port}`);
  });

  it.each(["::1", "[::1]"])("says where the edge is in a way that can be called, on %s too", async (host) => {
    process.env.HLVM_HOST = host;
    const state = await start("foreground");
    expect(state.edgeUrl).toBe(`http://[::1]:${state.services[1]?.port}`);
    expect(readFileSync(`/proc/${state.services[1]?.pid}/environ`, "utf8")).toContain("HLVM_HOST=::1\0");
  });

  it("is one for a directory, however many start it at once", async () => {
    const states = await Promise.all([start("while-referenced"), start("while-referenced"), start("while-referenced")]);
    expect(new Set(states.map(({ supervisorPid }) => supervisorPid)).size).toBe(1);
  });

  it("has keys rotated where it is told to, says what came of it, and lives on", async () => {
    const state = await start("foreground");
    expect(await rotateKeys(state.controlSocket)).toEqual({
      rotated: [{ service: "edge", kid: "edge.2", replaced: "edge.1" }],
      replacedCountUntil: "2026-01-01T00:00:00.000Z",
    });
    expect(readMeshState(directory)).toEqual(state);
  });

  it("says why keys were not rotated", async () => {
    process.env.FAKE_BEHAVIOUR = "keeps-its-keys";
    const state = await start("foreground");
    await expect(rotateKeys(state.controlSocket)).rejects.toMatchObject({ message: expect.stringContaining("the disk is full") });
    await stopMesh(state.controlSocket);
    await expect(rotateKeys(state.controlSocket)).rejects.toMatchObject({ reason: "mesh_gone" });
  });

  it("ends with the last reference to it, and leaves nothing", async () => {
    const state = await start("while-referenced");
    const first = await referenceMesh(state.controlSocket);
    const second = await referenceMesh(state.controlSocket);
    await first.release();
    expect(readMeshState(directory)).toEqual(state);
    await second.release();
    await processesEnded(pidsOf(state));
    expect(existsSync(meshStateFile(directory))).toBe(false);
    expect(existsSync(state.controlSocket)).toBe(false);
    await expect(referenceMesh(state.controlSocket)).rejects.toMatchObject({ reason: "mesh_gone" });
  });

  it("stays in the foreground when a reference goes, and ends when it is told to, which those who refer to it learn", async () => {
    const state = await start("foreground");
    await (await referenceMesh(state.controlSocket)).release();
    const reference = await referenceMesh(state.controlSocket);
    await stopMesh(state.controlSocket);
    await reference.lost;
    expect(readMeshState(directory)).toBeUndefined();
    await processesEnded(pidsOf(state));
  });

  it("ends on SIGTERM with all that it started", async () => {
    const state = await start("foreground");
    process.kill(state.supervisorPid, "SIGTERM");
    await processesEnded(pidsOf(state));
    expect(readMeshState(directory)).toBeUndefined();
  });

  it("leaves no process when it is killed, and can be started again", async () => {
    const state = await start("foreground");
    process.kill(state.supervisorPid, "SIGKILL");
    await processesEnded(pidsOf(state));
    const again = await start("foreground");
    expect(again.supervisorPid).not.toBe(state.supervisorPid);
  });

  it("says which service could not start, on which port and where its log is, and leaves nothing", async () => {
    process.env.FAKE_BEHAVIOUR = "dies at start";
    await expect(start("foreground")).rejects.toMatchObject({
      message: expect.stringContaining("The service edge (on any free port) ended while starting (code 3)"),
      advice: expect.stringContaining(join(directory, "edge.log")),
    });
    expect(readMeshState(directory)).toBeUndefined();
    delete process.env.FAKE_BEHAVIOUR;
    await start("foreground");
  });

  it("names the edge, its port and its log when that port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    process.env.HLVM_PORT = String(port);
    await expect(start("foreground")).rejects.toMatchObject({
      message: expect.stringContaining(`The service edge (on port ${port}) could not start`),
      advice: expect.stringContaining("edge.log"),
    });
    other.close();
  });

  it("says what is wrong with its settings", async () => {
    process.env.HLVM_PORT = "many";
    await expect(start("foreground")).rejects.toMatchObject({
      reason: "invalid_configuration",
      message: expect.stringContaining("HLVM_PORT"),
    });
  });

  it("writes down the new process of a service that died", async () => {
    const state = await start("foreground");
    const [before] = state.services;
    process.kill(before!.pid!, "SIGKILL");
    const now = (): ServiceState => readMeshState(directory)!.services[0]!;
    await expect.poll(() => now().pid !== undefined && now().pid !== before!.pid, { timeout: 5_000 }).toBe(true);
    expect(now().port).toBe(before!.port);
    await expect.poll(supervisorLog, { timeout: 5_000 }).toContain("started again");
  });

  it("writes down no process for a process that is down, and where the edge was", async () => {
    process.env.FAKE_BEHAVIOUR = "starts only once";
    const state = await start("foreground");
    const [policy, edge] = state.services;
    const now = (index: number): ServiceState => readMeshState(directory)!.services[index]!;
    process.kill(edge!.pid!, "SIGKILL");
    await expect
      .poll(() => now(1), { timeout: 5_000 })
      .toMatchObject({ state: "down", port: edge!.port, reason: expect.stringContaining("ended while starting (code 3)") });
    expect(now(1)).not.toHaveProperty("pid");
    expect(Date.parse(now(1).since)).toBeGreaterThan(Date.parse(edge!.since));
    process.kill(policy!.pid!, "SIGKILL");
    await expect.poll(() => now(0).pid !== undefined && now(0).pid !== policy!.pid, { timeout: 5_000 }).toBe(true);
    expect(now(1).pid).toBeUndefined();
    expect(readMeshState(directory)!.edgeUrl).toBe(state.edgeUrl);
  });

  const policyNow = (): ServiceState => readMeshState(directory)!.services[0]!;

  it("says that a service which was stopped does not answer, and restarts it where it listened", async () => {
    const before = (await start("foreground")).services[0]!;
    process.kill(before.pid!, "SIGSTOP");
    await expect.poll(policyNow, { timeout: 5_000 }).toMatchObject({ state: "not_answering", pid: before.pid });
    await expect.poll(() => policyNow().pid, { timeout: 10_000 }).not.toBe(before.pid);
    await expect.poll(policyNow, { timeout: 5_000 }).toMatchObject({ state: "up", port: before.port });
    expect(isRunning(before.pid!)).toBe(false);
    await expect.poll(supervisorLog, { timeout: 5_000 }).toContain("does not answer and is restarted");
  });

  it("kills a service that hangs and does not end when it is told to", async () => {
    process.env.FAKE_BEHAVIOUR = "hangs";
    const before = (await start("foreground")).services[1]!;
    process.kill(before.pid!, "SIGUSR2");
    const edgeNow = (): ServiceState => readMeshState(directory)!.services[1]!;
    await expect.poll(() => edgeNow().reason, { timeout: 20_000 }).toMatch(/^it had not answered since .* and was ended \(SIGKILL\)$/);
    await expect.poll(edgeNow, { timeout: 5_000 }).toMatchObject({ state: "up" });
    expect(isRunning(before.pid!)).toBe(false);
  });

  it("lets a service be that is only busy", async () => {
    const before = (await start("foreground")).services[0]!;
    const isBusyOnceMore = async (): Promise<string> => {
      process.kill(before.pid!, "SIGUSR2");
      // As long as the fake service is busy.
      await sleep(2_500);
      return supervisorLog();
    };
    await expect.poll(isBusyOnceMore, { timeout: 15_000 }).toContain("answers again");
    expect(policyNow()).toMatchObject({ state: "up", pid: before.pid });
  });

  it("restarts nobody when the whole machine stood still", async () => {
    const state = await start("foreground");
    await expect.poll(supervisorLog).toContain("the mesh is up");
    for (const pid of pidsOf(state)) process.kill(pid, "SIGSTOP");
    // Longer than a service may be silent; then as long as a restart would take to show.
    await sleep(4_000);
    for (const pid of pidsOf(state)) process.kill(pid, "SIGCONT");
    await sleep(2_000);
    expect(readMeshState(directory)!.services.map(({ pid }) => pid)).toEqual(state.services.map(({ pid }) => pid));
    expect(supervisorLog()).not.toContain("does not answer");
  });

  it("ends with all that it began when its start is given up, and can be started again", async () => {
    process.env.FAKE_BEHAVIOUR = "is never ready";
    const giveUp = new AbortController();
    const given = { directory, lifetime: "foreground", onProgress: () => undefined, signal: giveUp.signal } as const;
    const beginning = startLocked(MAIN, given);
    await expect.poll(() => runningIn(directory).length, { timeout: 5_000 }).toBe(3);
    giveUp.abort();
    await expect(beginning).rejects.toMatchObject({ code: "cancelled" });
    expect(runningIn(directory)).toEqual([]);
    await expect(startLocked(MAIN, given)).rejects.toMatchObject({ code: "cancelled" });
    delete process.env.FAKE_BEHAVIOUR;
    await start("foreground");
  });

  it("ends when its starter goes before the mesh is up", async () => {
    process.env.FAKE_BEHAVIOUR = "is never ready";
    const supervisor = fork(MAIN, [], {
      env: { ...process.env, HLVM_DIR: directory },
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const exited = once(supervisor, "exit");
    await expect.poll(() => existsSync(join(directory, "edge.log")), { timeout: 5_000 }).toBe(true);
    supervisor.disconnect();
    expect(await exited).toEqual([0, null]);
  });
});
