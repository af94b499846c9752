import { Option, type Command } from "commander";
import { sessionStatusWords } from "@hlvm/proto/hlvm/memory/v1/transcript_words";
import type { CommandContext, Finish } from "../command.ts";
import type { SessionsListFlags } from "../commands/memory-sessions.ts";
import type { SourceAddFlags } from "../commands/memory-source-change.ts";
import type { SourceScanFlags } from "../commands/memory-source-scan.ts";
import { oneJson } from "./login-commands.ts";
import { jsonOption, wholeNumber } from "./values.ts";

/** Sessions that people had with other agents on this machine. */
export function addMemorySources(memory: Command, context: CommandContext, finish: Finish): void {
  const source = memory.command("source").description("sessions with other agents on this machine, which are imported once you add them");
  source
    .command("list")
    .description("what is imported, and what could be")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { memorySourceList } = await import("../commands/memory-source-list.ts");
      finish(await memorySourceList(flags, context));
    });
  source
    .command("add")
    .description("have scans read a tool's sessions, without the secrets in them; they are seen by you alone")
    .argument("<tool>", "as list shows it, or a name of yours for other JSON lines")
    .option("--folder <folder...>", "where its files are, with all below (default: where the tool has them)")
    .option("--leave-out <folder...>", "not the sessions that worked there")
    .option("--text-field <path>", "for JSON lines of a tool that is not known: where a turn's text is, for example message.content")
    .option("--role-field <path>", "who said it", "role")
    .option("--time-field <path>", "when", "timestamp")
    .option("--session-field <path>", "of which session (where absent, the file's name)", "session")
    .option("--key-field <path>", "the turn's id (where absent, the line's number)", "id")
    .addOption(
      new Option("--watch [minutes]", "scan it by itself, so often, for as long as `hlvm up` runs (15 where none are given)")
        .argParser(wholeNumber(1, 1_440))
        .preset("15"),
    )
    .option("--try", "show the first ten turns as they are understood, and change nothing")
    .addOption(jsonOption())
    .action(async (tool: string, flags: SourceAddFlags) => {
      const { memorySourceAdd } = await import("../commands/memory-source-change.ts");
      finish(await memorySourceAdd(tool, flags, context));
    });
  source
    .command("scan")
    .description("import what is new; cut off anywhere, the next one goes on")
    .argument("[tool]", "only this one")
    .addOption(new Option("--every <minutes>", "again and again, until Ctrl-C").argParser(wholeNumber(1, 1_440)))
    .option("--due", "only what is watched, and whose time has come")
    .addOption(jsonOption())
    .action(async (tool: string | undefined, flags: SourceScanFlags) => {
      const { memorySourceScan } = await import("../commands/memory-source-scan.ts");
      finish(await memorySourceScan(tool, flags, context));
    });
  source
    .command("disable")
    .description("leave a tool's sessions alone; what was imported stays")
    .argument("<tool>", "as list shows it")
    .action(async (tool: string) => {
      const { memorySourceDisable } = await import("../commands/memory-source-change.ts");
      finish(memorySourceDisable(tool, context));
    });
  addSessions(memory, context, finish);
}

function addSessions(memory: Command, context: CommandContext, finish: Finish): void {
  const sessions = memory.command("sessions").description("imported sessions; your own alone");
  sessions
    .command("list")
    .description("the one that was imported last first")
    .option("--tool <tool>", "of this tool")
    .option("--text <words>", "all of them in its title, or in what a model says of it")
    .addOption(new Option("--status <status>", "how it stood at its end, as a model says").choices(sessionStatusWords))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 500)).default(50))
    .addOption(jsonOption())
    .action(async (flags: SessionsListFlags) => {
      const { memorySessionsList } = await import("../commands/memory-sessions.ts");
      finish(await memorySessionsList(flags, context));
    });
  sessions
    .command("search")
    .description("the sessions that fit best, each by one turn")
    .argument("<query...>", "words of the question")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 50)).default(10))
    .addOption(jsonOption())
    .action(async (words: string[], flags: { limit: number; json?: boolean }) => {
      const { memorySessionsSearch } = await import("../commands/memory-sessions.ts");
      finish(await memorySessionsSearch(words.join(" "), flags, context));
    });
  sessions
    .command("show")
    .description("a session's turns")
    .argument("<tool>", "as list shows it")
    .argument("<session>", "as list shows it")
    .addOption(new Option("--from <number>", "from this turn").argParser(wholeNumber(0, 2_147_483_647)).default(0))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 200)).default(50))
    .addOption(jsonOption())
    .action(async (tool: string, session: string, flags: { from: number; limit: number; json?: boolean }) => {
      const { memorySessionsShow } = await import("../commands/memory-sessions.ts");
      finish(await memorySessionsShow({ tool, session }, flags, context));
    });
  sessions
    .command("forget")
    .description("take a session from memory for good, or all of a tool")
    .argument("<tool>", "as list shows it")
    .argument("[session]", "only this one")
    .option("--yes", "without being asked")
    .addOption(oneJson())
    .action(async (tool: string, session: string | undefined, flags: { yes?: boolean; json?: boolean }) => {
      const { memorySessionsForget } = await import("../commands/memory-sessions.ts");
      finish(await memorySessionsForget({ tool, session: session ?? "" }, flags, context));
    });
}
