import { Option, type Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { MemoryDatasetFlags } from "../commands/memory-dataset.ts";
import type { MemoryDigestFlags } from "../commands/memory-digest.ts";
import type { MemoryRecallsFlags } from "../commands/memory-recalls.ts";
import type { MemoryStatsFlags } from "../commands/memory-stats.ts";
import { withTimes } from "./audit-filter-options.ts";
import { recallKindWords } from "@hlvm/proto/hlvm/memory/v1/stats_words";
import { oneJson } from "./login-commands.ts";
import { jsonOption, moment, uuidOf, wholeNumber } from "./values.ts";

const ABOUT_DATASET = `
In LongMemEval's published form: one JSON array, with --json one question a line. recall-*: what you and your runs asked of memory,
answered by the facts that the answer used and you did not mark as wrong there. asked-again: what you asked in imported sessions; what
the assistant said then is to be found, the question itself is taken out. Yours alone is read, and secrets are replaced once more.
In HLVM's repository \`npm run bench -- memory --set longmemeval FILE.json\` measures by it.`;

/** Whether memory is any good. */
export function addMemoryStats(memory: Command, context: CommandContext, finish: Finish): void {
  withTimes(memory.command("stats").description("whether memory helps: hits, facts that answers used, and what was found out again"))
    .addOption(jsonOption())
    .action(async (flags: MemoryStatsFlags) => {
      const { memoryStats } = await import("../commands/memory-stats.ts");
      finish(await memoryStats(flags, context));
    });
  const recalls = memory
    .command("recalls")
    .enablePositionalOptions()
    .description("what you and your runs asked of memory, latest first; kept for 90 days")
    .option("--misses", "only what showed nothing")
    .addOption(new Option("--kind <kind>", "asked by a run at its start, a run's tool, or your search").choices(recallKindWords))
    .option("--text <words>", "only what was asked with all of these words")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 500)).default(50))
    .addOption(jsonOption())
    .action(async (flags: MemoryRecallsFlags) => {
      const { memoryRecalls } = await import("../commands/memory-recalls.ts");
      finish(await memoryRecalls(flags, context));
    });
  addRecall(recalls, context, finish);
  memory
    .command("dataset")
    .description("questions from your own sessions and recalls, with what answers them, as a set to measure memory by")
    .addOption(new Option("--limit <number>", "questions of each kind at most").argParser(wholeNumber(1, 1_000)).default(50))
    .addOption(new Option("--sessions <number>", "imported sessions that each is put to").argParser(wholeNumber(1, 500)).default(40))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_DATASET)
    .action(async (flags: MemoryDatasetFlags) => {
      const { memoryDataset } = await import("../commands/memory-dataset.ts");
      finish(await memoryDataset(flags, context));
    });
  memory
    .command("audit")
    .description("facts to see to: secrets, duplicates, contradictions, pins that are not seen, what is long forgotten")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { memoryAudit } = await import("../commands/memory-audit.ts");
      finish(await memoryAudit(flags, context));
    });
  memory
    .command("digest")
    .description("a day of memory: what was learnt and replaced, and whether it served")
    .addOption(new Option("--since <time>", "from this time on, for example 7d; without it a day").argParser(moment))
    .addOption(jsonOption())
    .action(async (flags: MemoryDigestFlags) => {
      const { memoryDigest } = await import("../commands/memory-digest.ts");
      finish(await memoryDigest(flags, context));
    });
}

function addRecall(recalls: Command, context: CommandContext, finish: Finish): void {
  const onRecall = (name: string, description: string): Command =>
    recalls.command(name).description(description).argument("<recall>", "its number, as the list shows it", recallId).addOption(oneJson());
  onRecall("show", "what it showed, and whether the answer used that").action(async (id: bigint, flags: { json?: boolean }) => {
    const { memoryRecallShow } = await import("../commands/memory-recall-show.ts");
    finish(await memoryRecallShow(id, flags, context));
  });
  for (const [name, wrong, description] of [
    ["mark", true, "say that a fact did not belong there; the fact stays as it is"],
    ["unmark", false, "take that back"],
  ] as const)
    onRecall(name, description)
      .argument("<fact-id>", "one that it showed", uuidOf("a fact's id; `hlvm memory recalls show` lists them"))
      .action(async (id: bigint, factId: string, flags: { json?: boolean }) => {
        const { memoryRecallMark } = await import("../commands/memory-recall-show.ts");
        finish(await memoryRecallMark({ recallId: id, factId, wrong }, flags, context));
      });
}

function recallId(value: string): bigint {
  return BigInt(wholeNumber(1, Number.MAX_SAFE_INTEGER)(value));
}
