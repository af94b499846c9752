import { Command, Option } from "commander";
import { factScopeWords, factTypeWords } from "@hlvm/proto/hlvm/memory/v1/memory_words";
import type { CommandContext, Finish } from "../command.ts";
import type { MemoryWriteFlags } from "../commands/memory-write.ts";
import { jsonOption, wholeNumber } from "./values.ts";

export function memoryCommand(context: CommandContext, finish: Finish): Command {
  const memory = new Command("memory").description("facts that outlive a session");
  memory
    .command("write")
    .description("remember a fact")
    .argument("<text...>", "the fact, in a sentence that stands alone")
    .addOption(new Option("--type <type>", "what kind of fact").choices(factTypeWords))
    .addOption(new Option("--scope <scope>", "who is reminded of it: project means sessions in this folder").choices(factScopeWords))
    .option("--subject <words>", "what it is about; with --predicate it replaces an older fact on the same")
    .option("--predicate <words>", "which property of the subject")
    .option("--pinned", "recall it in every session")
    .addOption(jsonOption())
    .action(async (words: string[], flags: MemoryWriteFlags) => {
      const { memoryWrite } = await import("../commands/memory-write.ts");
      finish(await memoryWrite(words.join(" "), flags, context));
    });
  memory
    .command("search")
    .description("search what is remembered")
    .argument("<query...>", "words of the question")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 100)).default(10))
    .addOption(jsonOption())
    .action(async (words: string[], flags: { limit: number; json?: boolean }) => {
      const { memorySearch } = await import("../commands/memory-search.ts");
      finish(await memorySearch(words.join(" "), flags, context));
    });
  return memory;
}
