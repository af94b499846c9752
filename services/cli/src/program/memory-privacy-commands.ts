import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { retentionScopeWords } from "@hlvm/proto/hlvm/memory/v1/personal_data_words";
import type { CommandContext, Finish } from "../command.ts";
import type { RetentionWord } from "../commands/memory-retention.ts";
import { oneJson } from "./login-commands.ts";
import { jsonOption, wholeNumber } from "./values.ts";

const ABOUT_RETENTION = `
personal, team, project: facts that have ended, with their history, go so many days later. log: what was asked of memory.
What holds stays until somebody ends it.`;

/** What memory holds of a person, and for how long. */
export function addMemoryPrivacy(memory: Command, context: CommandContext, finish: Finish): void {
  const person = memory.command("person").description("what memory holds of a person");
  const whose = (): Option => new Option("--person <id>", "user:NAME, for administrators (default: yourself)");
  person
    .command("export")
    .description("write all of it to standard output, one JSON object a line")
    .addOption(whose())
    .action(async (flags: { person?: string }) => {
      const { memoryPersonExport } = await import("../commands/memory-person.ts");
      finish(await memoryPersonExport(flags, context));
    });
  person
    .command("erase")
    .description("erase it: from the databases and the index; shared facts stay without the name")
    .addOption(whose())
    .option("--yes", "without being asked")
    .addOption(oneJson())
    .action(async (flags: { person?: string; yes?: boolean; json?: boolean }) => {
      const { memoryPersonErase } = await import("../commands/memory-person.ts");
      finish(await memoryPersonErase(flags, context));
    });
  memory
    .command("retention")
    .description("how long what has ended is kept; with a scope and days it is set, for administrators")
    .addArgument(new Argument("[scope]", "whose").choices(retentionScopeWords))
    .argument("[days]", "a number, or `forever`", days)
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_RETENTION)
    .action(async (scope: RetentionWord | undefined, given: number | undefined, flags: { json?: boolean }) => {
      if ((scope === undefined) !== (given === undefined)) throw new InvalidArgumentError("Give both a scope and days, or neither.");
      const { memoryRetention } = await import("../commands/memory-retention.ts");
      finish(await memoryRetention(scope === undefined ? undefined : { scope, days: given! }, flags, context));
    });
}

function days(value: string): number {
  return value === "forever" ? 0 : wholeNumber(1, 36_500)(value);
}
