import fc from "fast-check";
import { openCommandJudge } from "../adapters/parsers/open-command-judge.ts";
import { arbitraryCommand } from "./arbitrary-command.ts";

const BATCH = 2_000;

/**
 * `node print-harmless-commands.ts COUNT [SEED]` prints so many different generated commands that are judged L0, each as a
 * line of JSON: for whoever runs them where nothing may change. The same seed gives the same commands.
 */
const [wanted, seed] = [Number(process.argv[2] ?? 1_000), Number(process.argv[3] ?? 1)];
const judge = await openCommandJudge();
const printed = new Set<string>();
for (let batch = 0; printed.size < wanted; batch += 1) {
  for (const command of fc.sample(arbitraryCommand, { numRuns: BATCH, seed: seed + batch })) {
    if (printed.size >= wanted || printed.has(command) || judge(command).level !== "L0") continue;
    printed.add(command);
    process.stdout.write(`${JSON.stringify(command)}\n`);
  }
}
