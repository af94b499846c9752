import { Option, type Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { MemoryDigestFlags } from "../commands/memory-digest.ts";
import type { MemoryRecallsFlags } from "../commands/memory-recalls.ts";
import type { MemoryStatsFlags } from "../commands/memory-stats.ts";
import { withTimes } from "./audit-filter-options.ts";
import { jsonOption, moment, wholeNumber } from "./values.ts";

/** Whether memory is any good. */
export function addMemoryStats(memory: Command, context: CommandContext, finish: Finish): void {
  withTimes(memory.command("stats").description("whether memory helps: hits, facts that answers used, and what was found out again"))
    .addOption(jsonOption())
    .action(async (flags: MemoryStatsFlags) => {
      const { memoryStats } = await import("../commands/memory-stats.ts");
      finish(await memoryStats(flags, context));
    });
  memory
    .command("recalls")
    .description("what you and your runs asked of memory, latest first; kept for 90 days")
    .option("--misses", "only what showed nothing")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 500)).default(50))
    .addOption(jsonOption())
    .action(async (flags: MemoryRecallsFlags) => {
      const { memoryRecalls } = await import("../commands/memory-recalls.ts");
      finish(await memoryRecalls(flags, context));
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
