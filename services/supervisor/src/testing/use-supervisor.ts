import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import type { Lifetime } from "@hlvm/mesh/lifetime";
import type { MeshState } from "@hlvm/mesh/mesh-state";
import { startLocked } from "@hlvm/mesh/start-locked";
import { stopMesh } from "@hlvm/mesh/stop-mesh";

/** Supervises services that stand for the real ones, as `FAKE_BEHAVIOUR` says. */
export const SUPERVISOR = fileURLToPath(new URL("fake-supervisor.ts", import.meta.url));

export interface UsedSupervisor {
  /** Of the test that runs. */
  readonly directory: string;
  readonly start: (lifetime: Lifetime) => Promise<MeshState>;
  readonly log: () => string;
}

/** Supervisors for the tests of a file; those that a test started have ended when it has. */
export function useSupervisor(): UsedSupervisor {
  let directory = "";
  let started: MeshState[] = [];
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
  return {
    get directory() {
      return directory;
    },
    async start(lifetime) {
      const state = await startLocked(SUPERVISOR, { directory, lifetime, onProgress: () => undefined });
      started.push(state);
      return state;
    },
    log: () => readFileSync(join(directory, "logs", "supervisor.log"), "utf8"),
  };
}

export function pidsOf(state: MeshState): number[] {
  return [state.supervisorPid, ...state.services.map(({ pid }) => pid!)];
}
