import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

/** An HLVM directory with the state of a mesh in trouble. */
function meshFolder(choose = (services: readonly object[]): readonly object[] => services): string {
  const directory = temporaryFolder();
  mkdirSync(join(directory, "run"));
  const logFile = join(directory, "edge.log");
  writeFileSync(logFile, "the disk is \u001b[31mfull\n");
  const since = "2026-11-21T10:00:00Z";
  const services = [
    { name: "policy", state: "up", since, pid: 4_711, port: 5_001, logFile: "/logs/policy.log" },
    { name: "memory", state: "not_answering", since: "2026-11-21T10:05:00Z", pid: 4_712, port: 5_003, logFile: "/logs/memory.log" },
    {
      name: "edge",
      state: "down",
      since,
      reason: "it ended by itself (SIGKILL)",
      nextAttempt: "2026-11-21T10:00:30Z",
      port: 5_002,
      logFile,
    },
  ];
  const state = { supervisorPid: process.pid, edgeUrl: "http://127.0.0.1:5002", startedAt: since, services: choose(services) };
  writeFileSync(join(directory, "run", "mesh.json"), JSON.stringify(state));
  return directory;
}

describe("hlvm status", () => {
  it("says which process of the mesh is down, since when, when it is tried again and what its log says, and fails", async () => {
    const directory = meshFolder();
    const environment = { HLVM_DIR: directory };
    const rows = runHlvm(["status"], { environment });
    const json = runHlvm(["status", "--json"], { environment });
    expect(await rows.ended).toBe(1);
    expect(rows.stdout).toMatch(/^HLVM runs without memory, edge: http:/);
    expect(rows.stdout).toMatch(/^policy +up +4711 +5001 +\/logs\/policy\.log$/m);
    expect(rows.stdout).toMatch(/^memory +not answering +4712 /m);
    expect(rows.stdout).toMatch(/^edge +down +5002 /m);
    expect(rows.stdout).toContain("memory has not answered since 2026-11-21T10:05:00Z.");
    expect(rows.stdout).toContain(
      "edge is down since 2026-11-21T10:00:00Z: it ended by itself (SIGKILL). It is started again at 2026-11-21T10:00:30Z.\n" +
        "The last lines of its log:\n  the disk is ␛[31mfull\n",
    );
    expect(await json.ended).toBe(1);
    const told = JSON.parse(json.stdout) as { services: object[] };
    expect(told).toMatchObject({ up: false, state: "degraded" });
    expect(told.services[0]).toEqual({
      name: "policy",
      up: true,
      state: "up",
      since: "2026-11-21T10:00:00Z",
      pid: 4_711,
      port: 5_001,
      log_file: "/logs/policy.log",
    });
    expect(told.services[2]).toMatchObject({
      up: false,
      state: "down",
      reason: "it ended by itself (SIGKILL)",
      next_attempt: "2026-11-21T10:00:30Z",
      last_log_lines: ["the disk is \u001b[31mfull"],
    });
  });

  it("says that all of it is up, with exit code 0", async () => {
    const directory = meshFolder((services) => services.slice(0, 1));
    const environment = { HLVM_DIR: directory };
    const rows = runHlvm(["status"], { environment });
    const json = runHlvm(["status", "--json"], { environment });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(/^HLVM is up: /);
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ up: true, state: "up" });
  });

  it("says that no mesh is up", async () => {
    const status = runHlvm(["status", "--json"]);
    expect(await status.ended).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ up: false });
    const down = runHlvm(["down"]);
    expect(await down.ended).toBe(0);
    expect(down.stderr).toBe("No mesh is up.\n");
  });
});
