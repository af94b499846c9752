import { Option, type Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { LabelsParityFlags } from "../commands/memory-labels-parity.ts";
import { oneJson } from "./login-commands.ts";
import { wholeNumber } from "./values.ts";

/** What a model adds to memory in the background. */
export function addMemoryLabels(memory: Command, context: CommandContext, finish: Finish): void {
  const labels = memory
    .command("labels")
    .description("what the model of HLVM_MEMORY_MODEL says of your sessions and facts, once you let it");
  const simple = (what: "on" | "off" | "status", description: string): void => {
    labels
      .command(what)
      .description(description)
      .addOption(oneJson())
      .action(async (flags: { json?: boolean }) => {
        const { memoryLabels } = await import("../commands/memory-labels.ts");
        finish(await memoryLabels(what, flags, context));
      });
  };
  simple("on", "let it look at them, for a day at a time, which scans renew; its calls count against your budgets");
  simple("off", "let it look at nothing more; what it found stays");
  simple("status", "whether it may, what came of it, and what is in the way");
  labels
    .command("parity")
    .description("have two models label the same sessions, and see how far they agree; nothing of it is kept")
    .requiredOption("--model <model...>", "provider/name; twice")
    .addOption(
      new Option("--sessions <number>", "how many, the one that was imported last first").argParser(wholeNumber(1, 200)).default(10),
    )
    .addOption(oneJson())
    .action(async (flags: LabelsParityFlags) => {
      const { memoryLabelsParity } = await import("../commands/memory-labels-parity.ts");
      finish(await memoryLabelsParity(flags, context));
    });
}
