import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { Attempt } from "./compare-settings.ts";
import type { Outcome } from "./run-trial.ts";

const OUTCOMES: ReadonlySet<unknown> = new Set<Outcome>(["passed", "failed", "error"]);

/** The trials of an earlier evaluation, from what `hlvm eval --json` wrote. @throws HlvmError `baseline_not_readable` */
export function readBaseline(file: string): Attempt[] {
  const attempts: Attempt[] = [];
  const lines = textOf(file).split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const trial = trialOf(line);
    if (trial === undefined) throw notReadable(`Line ${index + 1} of ${file} is not one that \`hlvm eval --json\` writes.`);
    if (trial !== "other") attempts.push(trial);
  }
  if (attempts.length === 0) throw notReadable(`${file} has no trial.`);
  return attempts;
}

function trialOf(line: string): Attempt | "other" | undefined {
  try {
    const { type, task, setting, outcome } = JSON.parse(line) as Record<string, unknown>;
    if (typeof type !== "string") return undefined;
    if (type !== "trial") return "other";
    if (typeof task !== "string" || typeof setting !== "string" || !OUTCOMES.has(outcome)) return undefined;
    return { task, setting, outcome: outcome as Outcome };
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw notReadable(`The baseline ${file} cannot be read: ${messageOf(cause)}`, cause);
  }
}

function notReadable(message: string, cause?: unknown): HlvmError {
  const advice = "Keep what an evaluation prints: `hlvm eval FOLDER --json > baseline.ndjson`.";
  return new HlvmError({ code: "invalid_argument", reason: "baseline_not_readable", message, advice, cause });
}
