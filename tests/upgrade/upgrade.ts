import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ChaosMesh } from "../chaos/chaos-mesh.ts";
import { checkRun, type CheckedRun, type Failure } from "../chaos/check-run.ts";
import { driveRun, type DrivenRun, type RunToDrive } from "../chaos/drive-run.ts";
import { keepEvidence } from "../chaos/keep-evidence.ts";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { answerApprovals } from "./answer-approvals.ts";
import { Deployment } from "./deployment.ts";
import type { Version } from "./export-version.ts";
import { prepareRunningDatabases } from "./prepare-running-databases.ts";
import { replaceServices, type Replaced } from "./replace-services.ts";
import { faultsInLog, faultsInLogs } from "./version-faults.ts";

/** Runs are parked after a second where the version knows that, and their answers come later. */
const SETTINGS = { HLVM_REPLICAS: "2", HLVM_MAXIMUM_TURNS: "200", HLVM_PARK_SECONDS: "1", HLVM_LOG_LEVEL: "debug" };
const ANSWER_MILLISECONDS = 3_000;
const AUDIT_MILLISECONDS = 90_000;
const NEXT: Version = { name: "working-tree", root: repositoryRoot };

export interface UpgradeOptions {
  readonly before: Version;
  /** How many runs are under way at any time, and how many lines each writes. */
  readonly atOnce: number;
  readonly turns: number;
  /** Of these, how many ask a person for each of their calls. */
  readonly asking: number;
  readonly seed: number;
  readonly pauseMilliseconds: number;
  readonly limitMilliseconds: number;
  readonly onProgress: (line: string) => void;
}

export interface UpgradeReport {
  readonly runs: number;
  readonly failures: readonly Failure[];
  /** What failed because versions did not fit together, and processes that were left behind. */
  readonly faults: readonly string[];
  /** In the order in which they were replaced. */
  readonly replaced: readonly Replaced[];
  readonly takeovers: number;
  readonly outcomesUnknown: number;
  /** Where to look. */
  readonly folder: string;
}

/** Replaces every service of a mesh by this checkout's, one process after the other, while runs are under way. */
export async function upgrade(options: UpgradeOptions): Promise<UpgradeReport> {
  const { before, turns, onProgress } = options;
  const folder = join(dirname(before.root), "evidence");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const deployment = new Deployment(before);
  const mesh = await ChaosMesh.start(SETTINGS, deployment.root);
  let driven: DrivenRun[] = [];
  const checked: CheckedRun[] = [];
  const replaced: Replaced[] = [];
  const faults: string[] = [];
  try {
    const answering = new AbortController();
    const answered = answerApprovals(mesh, ANSWER_MILLISECONDS, answering.signal);
    try {
      driven = await driveWhile(mesh, options, () => replaceAll(mesh, deployment, replaced, options));
    } finally {
      answering.abort();
      faults.push(...(await answered));
    }
    const outcomesBy = performance.now() + AUDIT_MILLISECONDS;
    for (const run of driven) checked.push(await checkRun(mesh, run, turns, outcomesBy));
    onProgress(`${checked.length} runs checked`);
    faults.push(...checked.flatMap(({ log }, index) => faultsInLog(driven[index]!.sessionId, log)));
    faults.push(...faultsInLogs(mesh.mesh.directory));
  } finally {
    keepEvidence(mesh.mesh.directory, folder, driven, checked);
    faults.push(...(await mesh.stop()).map((process) => `process ${process} was left behind`));
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);
  return {
    runs: driven.length,
    failures: checked.flatMap(({ failures }) => failures),
    faults,
    replaced,
    takeovers: sum(checked.map((run) => run.takeovers)),
    outcomesUnknown: sum(checked.map((run) => run.outcomesUnknown)),
    folder,
  };
}

/** Begins a run wherever one has ended, for as long as the work goes on, and waits for those under way. */
async function driveWhile(mesh: ChaosMesh, options: UpgradeOptions, work: () => Promise<void>): Promise<DrivenRun[]> {
  const { atOnce, asking, turns, limitMilliseconds, onProgress } = options;
  const driven: DrivenRun[] = [];
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limitMilliseconds)]);
  let number = 0;
  const worked = new AbortController();
  const lane = async (asks: boolean): Promise<void> => {
    do {
      const run: RunToDrive = { number: ++number, turns, asks };
      driven.push(await driveRun(mesh, run, signal));
      onProgress(`${driven.length} runs ended`);
    } while (!worked.signal.aborted && !signal.aborted);
  };
  const lanes = Array.from({ length: atOnce }, (_, index) => lane(index < asking));
  try {
    await work();
  } catch (thrown) {
    over.abort();
    throw thrown;
  } finally {
    worked.abort();
    await Promise.all(lanes);
  }
  return driven.toSorted((one, other) => one.number - other.number);
}

async function replaceAll(mesh: ChaosMesh, deployment: Deployment, replaced: Replaced[], options: UpgradeOptions): Promise<void> {
  const { directory } = mesh.mesh;
  await prepareRunningDatabases(directory);
  await replaceServices({
    directory,
    deployment,
    next: NEXT,
    seed: options.seed,
    pauseMilliseconds: options.pauseMilliseconds,
    onReplaced: (one) => {
      mesh.processes.look();
      replaced.push(one);
      options.onProgress(`${one.part} replaced after ${one.milliseconds} ms`);
    },
  });
}
