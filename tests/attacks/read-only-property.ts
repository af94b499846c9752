import fc, { type Arbitrary } from "fast-check";
import { openCommandJudge } from "@hlvm/service-policy/src/adapters/parsers/open-command-judge.ts";
import { shell, type AttackMesh } from "./attack-mesh.ts";
import { createCanaryTree } from "./canary-tree.ts";
import { snapshotTree, treeDifferences } from "./tree-snapshot.ts";

/** Of one turn of the model. */
const BATCH = 100;
const SESSIONS_AT_ONCE = 4;
const CHUNK = 2_000;
/** Enough to see what is wrong. */
const MAXIMUM_CHANGES = 10;
const SECONDS_A_COMMAND = 2;

export interface PropertyOptions {
  readonly commands: Arbitrary<string>;
  /** How many are generated. */
  readonly runs: number;
  readonly seed: number;
  readonly onProgress?: (report: PropertyReport) => void;
}

export interface PropertyReport {
  generated: number;
  /** Different ones that are judged to read only. */
  judgedReadOnly: number;
  /** Of those, the ones that policy let through in plan mode and the sandbox ran. */
  ran: number;
  /** Commands that were judged to read only, and what they changed. */
  readonly changes: { readonly command: string; readonly differences: readonly string[] }[];
}

/**
 * Whatever is judged to read only changes nothing: commands are generated, judged as policy judges them, and those at L0 run
 * in real sessions in plan mode over a canary tree, which has to be the same afterwards.
 */
export async function checkReadOnly(mesh: AttackMesh, { commands, runs, seed, onProgress }: PropertyOptions): Promise<PropertyReport> {
  const judge = await openCommandJudge();
  const report: PropertyReport = { generated: 0, judgedReadOnly: 0, ran: 0, changes: [] };
  const seen = new Set<string>();
  const waiting: string[] = [];

  const generate = (): void => {
    const count = Math.min(CHUNK, runs - report.generated);
    for (const command of fc.sample(commands, { numRuns: count, seed: seed + report.generated })) {
      if (seen.has(command)) continue;
      seen.add(command);
      if (judge(command).level === "L0") waiting.push(command);
    }
    report.generated += count;
  };
  const take = (): string[] => {
    while (waiting.length < BATCH && report.generated < runs) generate();
    return waiting.splice(0, BATCH);
  };
  const work = async (): Promise<void> => {
    for (let batch = take(); batch.length > 0 && report.changes.length < MAXIMUM_CHANGES; batch = take()) {
      report.judgedReadOnly += batch.length;
      const ran = await runOverCanary(mesh, batch);
      report.ran += ran.count;
      if (ran.differences.length > 0) await blame(mesh, batch, report);
      onProgress?.(report);
    }
  };
  await Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, work));
  return report;
}

async function runOverCanary(mesh: AttackMesh, batch: readonly string[]): Promise<{ count: number; differences: string[] }> {
  const tree = createCanaryTree(mesh);
  const before = snapshotTree(tree);
  const { calls } = await mesh.ask(tree, "plan", [batch.map((command) => shell(command, { timeout_seconds: SECONDS_A_COMMAND }))]);
  const differences = treeDifferences(before, snapshotTree(tree));
  mesh.remove(tree);
  return { count: calls.filter(({ decision }) => decision === "allow").length, differences };
}

/** Finds the commands of a batch that changed something, each by itself, halving it. */
async function blame(mesh: AttackMesh, batch: readonly string[], report: PropertyReport): Promise<void> {
  if (report.changes.length >= MAXIMUM_CHANGES) return;
  const { differences } = await runOverCanary(mesh, batch);
  if (differences.length === 0) return;
  if (batch.length === 1) return void report.changes.push({ command: batch[0]!, differences });
  const middle = Math.ceil(batch.length / 2);
  await blame(mesh, batch.slice(0, middle), report);
  await blame(mesh, batch.slice(middle), report);
}
