import { Option, type Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { ExportWord } from "../commands/session-export.ts";
import type { SessionShareFlags } from "../commands/session-share.ts";
import type { SessionUndoFlags } from "../commands/session-undo.ts";
import { jsonOption, later, sessionId, wholeNumber } from "./values.ts";

interface Flags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Commands of `hlvm session` that change a session, make one of another, or show what one did. */
export function addSessionChangeCommands(session: Command, context: CommandContext, finish: Finish): void {
  const one = (name: string, description: string): Command =>
    session.command(name).description(description).argument("<session-id>", "see `hlvm session list`", sessionId);
  one("rename", "give one another title")
    .argument("<title...>", "at most 80 characters")
    .addOption(jsonOption())
    .action(async (id: string, words: string[], flags: Flags) => {
      const { sessionRename } = await import("../commands/session-update.ts");
      finish(await sessionRename(id, words.join(" "), flags, context));
    });
  for (const [name, archived] of [
    ["archive", true],
    ["unarchive", false],
  ] as const)
    one(name, archived ? "put one out of the way" : "list one again that was archived")
      .addOption(jsonOption())
      .action(async (id: string, flags: Flags) => {
        const { sessionArchive } = await import("../commands/session-update.ts");
        finish(await sessionArchive(id, archived, flags, context));
      });
  one("delete", "delete one for good; the audit log stays")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (id: string, flags: Flags) => {
      const { sessionDelete } = await import("../commands/session-delete.ts");
      finish(await sessionDelete(id, flags, context));
    });
  one("undo", "go back to an earlier turn: conversation and files")
    .addOption(
      new Option("--to <turn>", "the last turn that still counts; 0 is before the first")
        .argParser(wholeNumber(0, 1_000_000))
        .makeOptionMandatory(),
    )
    .option("--overwrite", "also files that others changed since")
    .option("--partial", "also where what was there before is not all kept any more: what is goes back")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (id: string, flags: SessionUndoFlags) => {
      const { sessionUndo } = await import("../commands/session-undo.ts");
      finish(await sessionUndo(id, flags, context));
    });
  one("diff", "show what one changed in its workspace, as a patch")
    .addOption(jsonOption())
    .action(async (id: string, flags: Flags) => {
      const { sessionDiff } = await import("../commands/session-diff.ts");
      finish(await sessionDiff(id, flags, context));
    });
  one("export", "write all of one to standard output")
    .addOption(
      new Option("--format <format>", "ndjson can be imported again; markdown is for people")
        .choices(["ndjson", "markdown"])
        .default("ndjson"),
    )
    .action(async (id: string, flags: { format: ExportWord }) => {
      const { sessionExport } = await import("../commands/session-export.ts");
      finish(await sessionExport(id, flags, context));
    });
  session
    .command("import")
    .description("make one from a file that export wrote")
    .argument("<file>", "NDJSON")
    .option("--workspace <folder>", "the folder that it works in (default: the one you are in)")
    .addOption(jsonOption())
    .action(async (file: string, flags: { workspace?: string; json?: boolean }) => {
      const { sessionImport } = await import("../commands/session-import.ts");
      finish(await sessionImport(file, flags, context));
    });
  one("share", "let others see or steer it; without --with, show with whom it is shared")
    .option("--with <whom>", "user:NAME, team:NAME or organization")
    .addOption(
      new Option("--right <right>", "view: read and fork; comment: also comment; drive: also ask, steer, stop, undo")
        .choices(RIGHTS)
        .default("view"),
    )
    .addOption(new Option("--until <time>", "it ends by itself then").argParser(later))
    .option("--remove", "do not share it with them any more")
    .addOption(jsonOption())
    .action(async (id: string, flags: SessionShareFlags) => {
      const { sessionShare } = await import("../commands/session-share.ts");
      finish(await sessionShare(id, flags, context));
    });
  one("hand-over", "offer one of yours to somebody, whose it is once they take it")
    .requiredOption("--to <person>", "user:NAME")
    .addOption(jsonOption())
    .action(async (id: string, flags: { to: string; json?: boolean }) => {
      const { sessionHandOver } = await import("../commands/session-share.ts");
      finish(await sessionHandOver(id, flags, context));
    });
  one("take", "take one over that its owner offered you")
    .addOption(jsonOption())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { sessionTake } = await import("../commands/session-share.ts");
      finish(await sessionTake(id, flags, context));
    });
  one("comment", "say something about it that people see and its model does not")
    .argument("<text>", "what is said")
    .addOption(jsonOption())
    .action(async (id: string, text: string, flags: { json?: boolean }) => {
      const { sessionComment } = await import("../commands/session-share.ts");
      finish(await sessionComment(id, text, flags, context));
    });
  one("fork", "make one that begins as another did and goes its own way")
    .addOption(
      new Option("--at <sequence>", "the last event that it has (default: the last there is)").argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .option("--files", "give it a copy of the files as they were then (default: it works in the same folder, as it is)")
    .addOption(jsonOption())
    .action(async (id: string, flags: { at?: number; files?: boolean; json?: boolean }) => {
      const { sessionFork } = await import("../commands/session-fork.ts");
      finish(await sessionFork(id, flags, context));
    });
}

const RIGHTS = ["view", "comment", "drive"];

function yesOption(): Option {
  return new Option("--yes", "do not ask, as scripts need it");
}
