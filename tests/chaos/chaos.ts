import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { ChaosMesh } from "./chaos-mesh.ts";
import { checkRun, type CheckedRun, type Failure } from "./check-run.ts";
import { driveRun, type DrivenRun } from "./drive-run.ts";
import { keepEvidence } from "./keep-evidence.ts";
import { Killer, type JournalEntry } from "./killer.ts";
import type { Harm } from "./plan-harm.ts";

/** A run in which calls are interrupted has a turn more for each, to look. */
const SETTINGS = { HLVM_MAXIMUM_TURNS: "200" };
const QUIET_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 1_000;
const AUDIT_MILLISECONDS = 60_000;
const SESSIONS_PAGE = 500;

export interface ChaosOptions {
  readonly runs: number;
  readonly turns: number;
  /** Runs under way at the same time. */
  readonly atOnce: number;
  readonly pauseMilliseconds: number;
  /** For all runs together. */
  readonly limitMilliseconds: number;
  /** Names the folder in which journal, logs and failed runs are left. */
  readonly name: string;
  readonly plan: (parts: readonly string[]) => Iterator<Harm, void>;
  readonly onProgress: (line: string) => void;
}

export interface ChaosReport {
  readonly parts: readonly string[];
  readonly runs: number;
  readonly failures: readonly Failure[];
  /** What is wrong with the mesh as a whole. */
  readonly leftOver: readonly string[];
  readonly journal: readonly JournalEntry[];
  readonly takeovers: number;
  readonly outcomesUnknown: number;
  /** What whoever started and watched was told, and how often, where they had to try again by hand. */
  readonly startsLost: Readonly<Record<string, number>>;
  readonly watchesLost: Readonly<Record<string, number>>;
  readonly milliseconds: number;
  /** Where to look. */
  readonly folder: string;
}

/** Runs under a killer, and what holds of them when it has gone. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = join(repositoryRoot, ".cache", "chaos", options.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const mesh = await ChaosMesh.start(SETTINGS);
  try {
    const began = performance.now();
    const { parts } = mesh;
    const killer = new Killer({
      directory: mesh.mesh.directory,
      harms: options.plan(parts),
      pauseMilliseconds: options.pauseMilliseconds,
      journalFile: join(folder, "journal.ndjson"),
      onBeat: () => mesh.processes.look(),
    });
    const driven = await driveUnder(killer, mesh, options);
    await untilQuiet(mesh);
    const outcomesBy = performance.now() + AUDIT_MILLISECONDS;
    const checked: CheckedRun[] = [];
    for (const run of driven) {
      checked.push(await checkRun(mesh, run, options.turns, outcomesBy));
      options.onProgress(`${checked.length} of ${driven.length} runs checked`);
    }
    const failures = checked.flatMap((run) => run.failures);
    const running = await sessionsRunning(mesh);
    keepEvidence(mesh.mesh.directory, folder, driven, checked);
    const milliseconds = performance.now() - began;
    const leftOver = (await mesh.stop()).map((process) => `process ${process}`);
    const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);
    return {
      parts,
      runs: driven.length,
      failures,
      leftOver: [...running.map((sessionId) => `session ${sessionId} has a run under way`), ...leftOver],
      journal: killer.journal,
      takeovers: sum(checked.map((run) => run.takeovers)),
      outcomesUnknown: sum(checked.map((run) => run.outcomesUnknown)),
      startsLost: counted(driven.flatMap(({ startsLost }) => startsLost)),
      watchesLost: counted(driven.flatMap(({ watchesLost }) => watchesLost)),
      milliseconds,
      folder,
    };
  } catch (thrown) {
    cpSync(join(mesh.mesh.directory, "logs"), join(folder, "logs"), { recursive: true });
    await mesh.stop();
    throw thrown;
  }
}

function counted(messages: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  // Without the numbers of ports and processes, which are others each time.
  for (const message of messages.map((text) => text.replaceAll(/\d{4,}/g, "N"))) counts[message] = (counts[message] ?? 0) + 1;
  return counts;
}

async function driveUnder(killer: Killer, mesh: ChaosMesh, options: ChaosOptions): Promise<DrivenRun[]> {
  try {
    return await driveAll(mesh, options);
  } finally {
    await killer.stop();
  }
}

async function driveAll(mesh: ChaosMesh, { runs, turns, atOnce, limitMilliseconds, onProgress }: ChaosOptions): Promise<DrivenRun[]> {
  const driven: DrivenRun[] = [];
  const signal = AbortSignal.timeout(limitMilliseconds);
  let next = 1;
  const lane = async (): Promise<void> => {
    while (next <= runs) {
      driven.push(await driveRun(mesh, { number: next++, turns }, signal));
      onProgress(`${driven.length} of ${runs} runs ended`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, runs) }, lane));
  return driven.toSorted((one, other) => one.number - other.number);
}

/** Every part is up again, and was a second ago: one that was killed just before is not known to be down yet. */
async function untilQuiet(mesh: ChaosMesh): Promise<void> {
  const deadline = performance.now() + QUIET_MILLISECONDS;
  for (let looks = 0; looks < 2;) {
    const down = readMeshState(mesh.mesh.directory)!.services.filter(({ state }) => state !== "up");
    looks = down.length === 0 ? looks + 1 : 0;
    if (performance.now() > deadline) throw new Error(`not up again: ${down.map(({ name, reason }) => `${name} (${reason})`).join(", ")}`);
    await sleep(LOOK_MILLISECONDS);
  }
}

/** Runs that were begun by starts whose answer was lost are over by then, too. */
async function sessionsRunning(mesh: ChaosMesh): Promise<string[]> {
  const { sessions } = await mesh.sessions().listSessions({ limit: SESSIONS_PAGE });
  return sessions.filter(({ runningRunId }) => runningRunId !== "").map(({ sessionId }) => sessionId);
}
