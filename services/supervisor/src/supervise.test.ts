import { fork } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { referenceMesh } from "@hlvm/mesh/reference-mesh";
import { meshStateFile, readMeshState, type MeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { rotateKeys } from "@hlvm/mesh/rotate-keys";
import { startLocked } from "@hlvm/mesh/start-locked";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { processesEnded } from "./testing/process-ended.ts";
import { pidsOf, SUPERVISOR, useSupervisor } from "./testing/use-supervisor.ts";

const supervisor = useSupervisor();

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

describe("the supervisor", () => {
  it("says where everything is, in a file for its owner alone", async () => {
    const state = await supervisor.start("foreground");
    expect(placesOf(readMeshState(supervisor.directory)!)).toEqual(placesOf(state));
    expect(statSync(meshStateFile(supervisor.directory)).mode & 0o777).toBe(0o600);
    expect(state.services.map(({ name }) => name)).toEqual(["policy", "edge"]);
    expect(state.edgeUrl).toBe(`http://127.0.0.1:${state.services[1]?.port}`);
  });

  it.each(["::1", "[::1]"])("says where the edge is in a way that can be called, on %s too", async (host) => {
    process.env.HLVM_HOST = host;
    const state = await supervisor.start("foreground");
    expect(state.edgeUrl).toBe(`http://[::1]:${state.services[1]?.port}`);
    expect(readFileSync(`/proc/${state.services[1]?.pid}/environ`, "utf8")).toContain("HLVM_HOST=::1\0");
  });

  it("is one for a supervisor.directory, however many start it at once", async () => {
    const states = await Promise.all([
      supervisor.start("while-referenced"),
      supervisor.start("while-referenced"),
      supervisor.start("while-referenced"),
    ]);
    expect(new Set(states.map(({ supervisorPid }) => supervisorPid)).size).toBe(1);
  });

  it("has keys rotated where it is told to, says what came of it, and lives on", async () => {
    const state = await supervisor.start("foreground");
    expect(await rotateKeys(state.controlSocket)).toEqual({
      rotated: [{ service: "edge", kid: "edge.2", replaced: "edge.1" }],
      replacedCountUntil: "2026-01-01T00:00:00.000Z",
    });
    expect(placesOf(readMeshState(supervisor.directory)!)).toEqual(placesOf(state));
  });

  it("says why keys were not rotated", async () => {
    process.env.FAKE_BEHAVIOUR = "keeps-its-keys";
    const state = await supervisor.start("foreground");
    await expect(rotateKeys(state.controlSocket)).rejects.toMatchObject({ message: expect.stringContaining("the disk is full") });
    await stopMesh(state.controlSocket);
    await expect(rotateKeys(state.controlSocket)).rejects.toMatchObject({ reason: "mesh_gone" });
  });

  it("ends with the last reference to it, and leaves nothing", async () => {
    const state = await supervisor.start("while-referenced");
    const first = await referenceMesh(state.controlSocket);
    const second = await referenceMesh(state.controlSocket);
    await first.release();
    expect(placesOf(readMeshState(supervisor.directory)!)).toEqual(placesOf(state));
    await second.release();
    await processesEnded(pidsOf(state));
    expect(existsSync(meshStateFile(supervisor.directory))).toBe(false);
    expect(existsSync(state.controlSocket)).toBe(false);
    await expect(referenceMesh(state.controlSocket)).rejects.toMatchObject({ reason: "mesh_gone" });
  });

  it("stays in the foreground when a reference goes, and ends when it is told to, which those who refer to it learn", async () => {
    const state = await supervisor.start("foreground");
    await (await referenceMesh(state.controlSocket)).release();
    const reference = await referenceMesh(state.controlSocket);
    await stopMesh(state.controlSocket);
    await reference.lost;
    expect(readMeshState(supervisor.directory)).toBeUndefined();
    await processesEnded(pidsOf(state));
  });

  it("ends on SIGTERM with all that it started", async () => {
    const state = await supervisor.start("foreground");
    process.kill(state.supervisorPid, "SIGTERM");
    await processesEnded(pidsOf(state));
    expect(readMeshState(supervisor.directory)).toBeUndefined();
  });

  it("leaves no process when it is killed, and can be started again", async () => {
    const state = await supervisor.start("foreground");
    process.kill(state.supervisorPid, "SIGKILL");
    await processesEnded(pidsOf(state));
    const again = await supervisor.start("foreground");
    expect(again.supervisorPid).not.toBe(state.supervisorPid);
  });

  it("says which service could not start, on which port and where its log is, and leaves nothing", async () => {
    process.env.FAKE_BEHAVIOUR = "dies at start";
    await expect(supervisor.start("foreground")).rejects.toMatchObject({
      message: expect.stringContaining("The service edge (on any free port) ended while starting (code 3)"),
      advice: expect.stringContaining(join(supervisor.directory, "edge.log")),
    });
    expect(readMeshState(supervisor.directory)).toBeUndefined();
    delete process.env.FAKE_BEHAVIOUR;
    await supervisor.start("foreground");
  });

  it("names the edge, its port and its log when that port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    process.env.HLVM_PORT = String(port);
    await expect(supervisor.start("foreground")).rejects.toMatchObject({
      message: expect.stringContaining(`The service edge (on port ${port}) could not start`),
      advice: expect.stringContaining("edge.log"),
    });
    other.close();
  });

  it("says what is wrong with its settings", async () => {
    process.env.HLVM_PORT = "many";
    await expect(supervisor.start("foreground")).rejects.toMatchObject({
      reason: "invalid_configuration",
      message: expect.stringContaining("HLVM_PORT"),
    });
  });

  it("writes down the new process of a service that died", async () => {
    const state = await supervisor.start("foreground");
    const [before] = state.services;
    process.kill(before!.pid!, "SIGKILL");
    const now = (): ServiceState => readMeshState(supervisor.directory)!.services[0]!;
    await expect.poll(() => now().pid !== undefined && now().pid !== before!.pid).toBe(true);
    expect(now().port).toBe(before!.port);
    await expect.poll(supervisor.log).toContain("started again");
  });

  it("writes down no process for a process that is down, and where the edge was", async () => {
    process.env.FAKE_BEHAVIOUR = "starts only once";
    const state = await supervisor.start("foreground");
    const [policy, edge] = state.services;
    const now = (index: number): ServiceState => readMeshState(supervisor.directory)!.services[index]!;
    process.kill(edge!.pid!, "SIGKILL");
    await expect
      .poll(() => now(1))
      .toMatchObject({ state: "down", port: edge!.port, reason: expect.stringContaining("ended while starting (code 3)") });
    expect(now(1)).not.toHaveProperty("pid");
    expect(Date.parse(now(1).since)).toBeGreaterThan(Date.parse(edge!.since));
    process.kill(policy!.pid!, "SIGKILL");
    await expect.poll(() => now(0).pid !== undefined && now(0).pid !== policy!.pid).toBe(true);
    expect(now(1).pid).toBeUndefined();
    expect(readMeshState(supervisor.directory)!.edgeUrl).toBe(state.edgeUrl);
  });

  it("ends with all that it began when its start is given up, and can be started again", async () => {
    process.env.FAKE_BEHAVIOUR = "is never ready";
    const giveUp = new AbortController();
    const given = { directory: supervisor.directory, lifetime: "foreground", onProgress: () => undefined, signal: giveUp.signal } as const;
    const beginning = startLocked(SUPERVISOR, given);
    await expect.poll(() => runningIn(supervisor.directory).length).toBe(3);
    giveUp.abort();
    await expect(beginning).rejects.toMatchObject({ code: "cancelled" });
    expect(runningIn(supervisor.directory)).toEqual([]);
    await expect(startLocked(SUPERVISOR, given)).rejects.toMatchObject({ code: "cancelled" });
    delete process.env.FAKE_BEHAVIOUR;
    await supervisor.start("foreground");
  });

  it("ends when its starter goes before the mesh is up", async () => {
    process.env.FAKE_BEHAVIOUR = "is never ready";
    const forked = fork(SUPERVISOR, [], {
      env: { ...process.env, HLVM_DIR: supervisor.directory },
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const exited = once(forked, "exit");
    await expect.poll(() => existsSync(join(supervisor.directory, "edge.log"))).toBe(true);
    forked.disconnect();
    expect(await exited).toEqual([0, null]);
  });
});
