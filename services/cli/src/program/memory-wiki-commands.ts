import { Option, type Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { WikiProjectFlags } from "../commands/memory-wiki-project.ts";
import type { WikiWriteFlags } from "../commands/memory-wiki-write.ts";
import type { WikiScopeFlag } from "../wiki/scope-named.ts";
import { oneJson } from "./login-commands.ts";
import { jsonOption, uuidOf, wholeNumber } from "./values.ts";

const revisionId = uuidOf("a revision's id; `hlvm memory wiki proposals` shows them");
const limitOption = (maximum: number, usual: number) =>
  new Option("--limit <number>", "how many").argParser(wholeNumber(1, maximum)).default(usual);
const scopeOption = () =>
  new Option("--scope <scope>", "whose page: this folder's project's, or the whole organization's").choices(["project", "team"]);

/** Pages that runs maintain and people approve. */
export function addMemoryWiki(memory: Command, context: CommandContext, finish: Finish): void {
  const wiki = memory
    .command("wiki")
    .description("pages of this folder's project and of the organization, which runs propose and people approve");
  addReading(wiki, context, finish);
  addWriting(wiki, context, finish);
  wiki
    .command("project")
    .description("write the project's pages and MEMORY.md into a folder, read-only; nothing that was changed there is lost")
    .argument("<folder>", "for example docs, in the project's repository")
    .option("--check", "write nothing; exit 1 where something would change")
    .addOption(jsonOption())
    .action(async (folder: string, flags: WikiProjectFlags) => {
      const { memoryWikiProject } = await import("../commands/memory-wiki-project.ts");
      finish(await memoryWikiProject(folder, flags, context));
    });
}

function addReading(wiki: Command, context: CommandContext, finish: Finish): void {
  const reading = () => import("../commands/memory-wiki-read.ts");
  wiki
    .command("list")
    .description("all pages")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => finish(await (await reading()).memoryWikiList(flags, context)));
  wiki
    .command("read")
    .description("a page, in Markdown")
    .argument("<name>", "as list shows it")
    .addOption(scopeOption())
    .addOption(oneJson())
    .action(async (name: string, flags: WikiScopeFlag & { json?: boolean }) =>
      finish(await (await reading()).memoryWikiRead(name, flags, context)),
    );
  wiki
    .command("search")
    .description("pages by words")
    .argument("<query...>", "words of the question")
    .addOption(limitOption(50, 10))
    .addOption(jsonOption())
    .action(async (words: string[], flags: { limit: number; json?: boolean }) =>
      finish(await (await reading()).memoryWikiSearch(words.join(" "), flags, context)),
    );
  wiki
    .command("history")
    .description("who wrote and decided what, latest first")
    .argument("[name]", "of this page alone", "")
    .addOption(limitOption(500, 50))
    .addOption(jsonOption())
    .action(async (name: string, flags: { limit: number; json?: boolean }) =>
      finish(await (await reading()).memoryWikiHistory(name, flags, context)),
    );
  wiki
    .command("proposals")
    .description("what waits until somebody approves or rejects it")
    .addOption(limitOption(500, 50))
    .addOption(jsonOption())
    .action(async (flags: { limit: number; json?: boolean }) =>
      finish(await (await reading()).memoryWikiHistory("", { ...flags, waiting: true }, context)),
    );
  wiki
    .command("lint")
    .description("broken links, facts that hold no longer, missing summaries; exit 1 where there are any")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => finish(await (await reading()).memoryWikiLint(flags, context)));
}

function addWriting(wiki: Command, context: CommandContext, finish: Finish): void {
  const writing = () => import("../commands/memory-wiki-write.ts");
  wiki
    .command("write")
    .description("write a page whole; for the organization it waits for an approver")
    .argument("<name>", "words in lower case with hyphens, and slashes between them")
    .requiredOption("--file <file>", "the page in Markdown, with front matter (title, summary, tags); - for standard input")
    .addOption(scopeOption())
    .addOption(
      new Option("--base <number>", "the revision that you read; refused where the page is at another").argParser(
        wholeNumber(0, 2_147_483_647),
      ),
    )
    .option("--reason <words>", "why, for its history")
    .addOption(oneJson())
    .action(async (name: string, flags: WikiWriteFlags) => finish(await (await writing()).memoryWikiWrite(name, flags, context)));
  wiki
    .command("remove")
    .description("take a page out; its history stays")
    .argument("<name>", "as list shows it")
    .addOption(scopeOption())
    .option("--yes", "without being asked")
    .addOption(oneJson())
    .action(async (name: string, flags: WikiScopeFlag & { yes?: boolean; json?: boolean }) =>
      finish(await (await writing()).memoryWikiRemove(name, flags, context)),
    );
  for (const decision of ["approve", "reject"] as const) {
    const command = wiki
      .command(decision)
      .description(decision === "approve" ? "publish what waits, once you have seen what it changes" : "have what waits never be published")
      .argument("<revision-id>", "as proposals shows it", revisionId);
    if (decision === "approve") command.option("--yes", "without being shown and asked");
    command
      .addOption(oneJson())
      .action(async (id: string, flags: { yes?: boolean; json?: boolean }) =>
        finish(await (await writing()).memoryWikiDecide(decision, id, flags, context)),
      );
  }
}
