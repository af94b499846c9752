import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { SessionSendFlags } from "../commands/session-send.ts";
import type { SessionListFlags } from "../commands/session-list.ts";
import { addSessionChangeCommands } from "./session-change-commands.ts";
import { collect, jsonOption, moment, sessionId, wholeNumber } from "./values.ts";

const STATES = ["new", "running", "completed", "max_turns_reached", "max_budget_reached", "user_cancelled", "error", "timeout"].concat([
  "permission_denied",
  "workflow_blocked",
  "context_exhausted",
]);

export function sessionCommand(context: CommandContext, finish: Finish): Command {
  const session = new Command("session").description("conversations, running and past");
  session
    .command("list")
    .description("list them, latest first; all filters that are given hold")
    .option("--text <words>", "with these words, or their beginnings, in the title or in one message")
    .addOption(new Option("--archived", "those that are archived").conflicts("withArchived"))
    .addOption(new Option("--mine", "only yours").conflicts("shared"))
    .option("--shared", "only those that others share with you")
    .option("--with-archived", "also those that are archived")
    .option("--with-workers", "also those of workers, which agents started")
    .option("--workspace <folder>", "that work in this folder, or below it")
    .option("--model <provider/name>", "whose last run had this model")
    .addOption(new Option("--since <time>", "changed since: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "changed before").argParser(moment))
    .addOption(new Option("--state <state>", "new, running, or how the last run ended").choices(STATES))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 1_000_000)).default(50))
    .addOption(new Option("--all", "every one").conflicts("limit"))
    .addOption(jsonOption())
    .action(async (flags: SessionListFlags) => {
      const { sessionList } = await import("../commands/session-list.ts");
      finish(await sessionList(flags, context));
    });
  session
    .command("show")
    .description("show all that happened in one")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(jsonOption())
    .option("--verbose", "also thinking and figures of every turn")
    .action(async (id: string, flags: { json?: boolean; verbose?: boolean }) => {
      const { sessionShow } = await import("../commands/session-show.ts");
      finish(await sessionShow(id, flags, context));
    });
  session
    .command("context")
    .description("show what its model has before it, and what was left out")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(jsonOption())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { sessionContext } = await import("../commands/session-context.ts");
      finish(await sessionContext(id, flags, context));
    });
  session
    .command("output")
    .description("show all that a call came to, of which views show a part")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .argument("<call-id>", "see `hlvm session show --json`")
    .addOption(jsonOption())
    .action(async (id: string, callId: string, flags: { json?: boolean }) => {
      const { sessionOutput } = await import("../commands/session-output.ts");
      finish(await sessionOutput(id, callId, flags, context));
    });
  session
    .command("send")
    .description("say something to the run that goes on in one, or begin one")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .argument("<message...>", "the model reads it before its next turn")
    .option("--interrupt", "stop the turn in hand, and go on with the message at once")
    .option(
      "--attach <file>",
      "give a text, an image (PNG, JPEG, WebP) or a PDF along; may be repeated. Secrets are found in texts only",
      collect,
    )
    .addOption(jsonOption())
    .action(async (id: string, words: string[], flags: SessionSendFlags) => {
      const { sessionSend } = await import("../commands/session-send.ts");
      finish(await sessionSend(id, words.join(" "), flags, context));
    });
  session
    .command("cancel")
    .description("stop the run that goes on in one")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(jsonOption())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { sessionCancel } = await import("../commands/session-cancel.ts");
      finish(await sessionCancel(id, flags, context));
    });
  session
    .command("processes")
    .description("list what runs in the background of one, or stop it")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(new Option("--stop <number>", "end this one, with all that it started").argParser(wholeNumber(1, 1_000_000)))
    .addOption(jsonOption())
    .action(async (id: string, flags: { stop?: number; json?: boolean }) => {
      const { sessionProcesses } = await import("../commands/session-processes.ts");
      finish(await sessionProcesses(id, flags, context));
    });
  session
    .command("watch")
    .description("follow one until its run ends; on a terminal, what you type goes to the run")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(new Option("--from <sequence>", "the first event wanted").argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)).default(1))
    .addOption(jsonOption())
    .option("--verbose", "also thinking and figures of every turn")
    .action(async (id: string, flags: { from: number; json?: boolean; verbose?: boolean }) => {
      const { sessionWatch } = await import("../commands/session-watch.ts");
      finish(await sessionWatch(id, flags, context));
    });
  addSessionChangeCommands(session, context, finish);
  return session;
}
