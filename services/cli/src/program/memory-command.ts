import { Command, Option } from "commander";
import { factOriginWords, factScopeWords, factTypeWords } from "@hlvm/proto/hlvm/memory/v1/memory_words";
import { entityKindWords } from "@hlvm/proto/hlvm/memory/v1/thread_words";
import type { CommandContext, Finish } from "../command.ts";
import type { MemoryChangesFlags } from "../commands/memory-changes.ts";
import type { FactEdit } from "../commands/memory-edit.ts";
import type { MemoryListFlags } from "../commands/memory-list.ts";
import type { MemoryUndoFlags } from "../commands/memory-undo.ts";
import type { MemorySearchFlags } from "../commands/memory-search.ts";
import type { MemoryThreadFlags } from "../commands/memory-thread.ts";
import type { MemoryWriteFlags } from "../commands/memory-write.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { withTimes } from "./audit-filter-options.ts";
import { addMemoryLabels } from "./memory-labels-commands.ts";
import { addMemoryPrivacy } from "./memory-privacy-commands.ts";
import { addMemorySources } from "./memory-source-commands.ts";
import { addMemoryStats } from "./memory-stats-commands.ts";
import { addMemoryWiki } from "./memory-wiki-commands.ts";
import { jsonOption, uuidOf, wholeNumber } from "./values.ts";

const factId = uuidOf("a fact's id; `hlvm memory list` shows them");
const changeId = uuidOf("a change's id; `hlvm memory show FACT --json` names them");

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
    .option("--explain", "every part of each score (--json has them always)")
    .addOption(jsonOption())
    .action(async (words: string[], flags: MemorySearchFlags) => {
      const { memorySearch } = await import("../commands/memory-search.ts");
      finish(await memorySearch(words.join(" "), flags, context));
    });
  addReading(memory, context, finish);
  addChanging(memory, context, finish);
  addInbox(memory, context, finish);
  addProjects(memory, context, finish);
  addMemorySources(memory, context, finish);
  addMemoryLabels(memory, context, finish);
  addMemoryWiki(memory, context, finish);
  addMemoryStats(memory, context, finish);
  addMemoryPrivacy(memory, context, finish);
  return memory;
}

function addReading(memory: Command, context: CommandContext, finish: Finish): void {
  withFactFilter(memory.command("list").description("list facts, the one that was written last first"))
    .option("--ended", "those too that hold no longer")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 10_000)).default(50))
    .addOption(jsonOption())
    .action(async (flags: MemoryListFlags) => {
      const { memoryList } = await import("../commands/memory-list.ts");
      finish(await memoryList(flags, context));
    });
  withFactFilter(memory.command("changes").description("what was done to facts: written, replaced, ended, pinned, undone; latest first"))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 100)).default(50))
    .option("--follow", "as it is done, and what runs are reminded of, until Ctrl-C")
    .addOption(jsonOption())
    .action(async (flags: MemoryChangesFlags) => {
      const { memoryChanges } = await import("../commands/memory-changes.ts");
      finish(await memoryChanges(flags, context));
    });
  memory
    .command("show")
    .description("show a fact, and all that was done to it and to what it replaced")
    .argument("<fact-id>", "as list and search show it", factId)
    .addOption(jsonOption())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { memoryShow } = await import("../commands/memory-show.ts");
      finish(await memoryShow(id, flags, context));
    });
  memory
    .command("thread")
    .description("one entity, fact or session through time: what held when, what replaced it, where it was used")
    .argument("<name...>", "a path, symbol, package, issue, person or other name; or the id of a fact or a session")
    .addOption(new Option("--kind <kind>", "only this kind of entity").choices(entityKindWords))
    .addOption(new Option("--limit <number>", "how many events").argParser(wholeNumber(1, 200)).default(50))
    .option("--page <token>", "what happened earlier; a page's last line has the token")
    .addOption(jsonOption())
    .action(async (words: string[], flags: MemoryThreadFlags) => {
      const { memoryThread } = await import("../commands/memory-thread.ts");
      finish(await memoryThread(words.join(" "), flags, context));
    });
}

function addChanging(memory: Command, context: CommandContext, finish: Finish): void {
  const edit = async (asked: FactEdit, flags: { json?: boolean }): Promise<void> => {
    const { memoryEdit } = await import("../commands/memory-edit.ts");
    finish(await memoryEdit(asked, flags, context));
  };
  const onFact = (name: string, description: string): Command =>
    memory.command(name).description(description).argument("<fact-id>", "as list and search show it", factId).addOption(jsonOption());
  onFact("edit", "put another text in a fact's place; the old one stays in its history")
    .argument("<text...>", "the fact as it should be")
    .action((id: string, words: string[], flags: { json?: boolean }) => {
      const value = words.join(" ");
      if (value.trim() === "") throw wrongUsage("The fact is empty.", 'Say something: hlvm memory edit ID "We deploy on Fridays"');
      return edit({ factId: id, change: { case: "replacementText", value }, done: "Replaced." }, flags);
    });
  onFact("end", "a fact holds no longer; it stays in its history").action((id: string, flags: { json?: boolean }) =>
    edit({ factId: id, change: { case: "remove", value: true }, done: "Ended." }, flags),
  );
  onFact("pin", "recall a fact in every session").action((id: string, flags: { json?: boolean }) =>
    edit({ factId: id, change: { case: "pinned", value: true }, done: "Pinned." }, flags),
  );
  onFact("unpin", "recall a fact only where it fits").action((id: string, flags: { json?: boolean }) =>
    edit({ factId: id, change: { case: "pinned", value: false }, done: "Unpinned." }, flags),
  );
  onFact("undo", "take back what was done last to a fact; to undo that does it again")
    .addOption(new Option("--change <id>", "only if it is still this one").argParser(changeId))
    .action(async (id: string, flags: MemoryUndoFlags) => {
      const { memoryUndo } = await import("../commands/memory-undo.ts");
      finish(await memoryUndo(id, flags, context));
    });
}

function addInbox(memory: Command, context: CommandContext, finish: Finish): void {
  const inbox = memory.command("inbox").description("what was proposed and holds only once a person accepts it");
  inbox
    .command("list")
    .description("what waits, the oldest first")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 100)).default(50))
    .addOption(jsonOption())
    .action(async (flags: { limit: number; json?: boolean }) => {
      const { memoryInbox } = await import("../commands/memory-inbox.ts");
      finish(await memoryInbox(flags, context));
    });
  for (const [decision, description] of [
    ["accept", "do what was proposed"],
    ["reject", "leave everything as it is"],
  ] as const)
    inbox
      .command(decision)
      .description(description)
      .argument("<proposal-id>", "as list shows it", factId)
      .addOption(jsonOption())
      .action(async (id: string, flags: { json?: boolean }) => {
        const { memoryDecide } = await import("../commands/memory-inbox.ts");
        finish(await memoryDecide(decision, id, flags, context));
      });
}

function addProjects(memory: Command, context: CommandContext, finish: Finish): void {
  const project = memory.command("project").description("whose facts of scope project are whose");
  project
    .command("list")
    .description("projects that you have had a session in or were added to; for an administrator, all")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { memoryProjects } = await import("../commands/memory-project.ts");
      finish(await memoryProjects(flags, context));
    });
  for (const [name, isMember, description] of [
    ["add", true, "have somebody see a project's facts; for administrators"],
    ["remove", false, "have somebody see them no more, whatever sessions they have; for administrators"],
  ] as const)
    project
      .command(name)
      .description(description)
      .argument("<project-id>", "as list shows it")
      .argument("<member>", "for example user:ada")
      .addOption(jsonOption())
      .action(async (projectId: string, principal: string, flags: { json?: boolean }) => {
        const { memoryProjectMember } = await import("../commands/memory-project.ts");
        finish(await memoryProjectMember({ projectId, principal, isMember }, flags, context));
      });
  project
    .command("init")
    .description("make this folder a project by an id in .hlvm/project, where it is no git repository")
    .action(async () => {
      const { memoryProjectInit } = await import("../commands/memory-project.ts");
      finish(memoryProjectInit(context));
    });
}

function withFactFilter(command: Command): Command {
  return withTimes(command)
    .addOption(new Option("--scope <scope>", "of this scope").choices(factScopeWords))
    .addOption(new Option("--origin <origin>", "from there").choices(factOriginWords))
    .addOption(new Option("--type <type>", "of this kind").choices(factTypeWords))
    .option("--category <word>", "of this category")
    .option("--by <name>", "by this person, for example user:ada");
}
