import { Command, InvalidArgumentError, Option } from "commander";
import { PERMISSION_MODE_DESCRIPTIONS } from "@hlvm/ndjson/permission-mode-descriptions";
import { PERMISSION_MODES } from "@hlvm/ndjson/permission-mode-name";
import type { CommandContext, Finish } from "../command.ts";
import type { AskFlags } from "../commands/ask.ts";
import { budgetOptions } from "../options/budget-flags.ts";
import { collect, sessionId } from "./values.ts";

const ABOUT_INPUT = `
Standard input that is piped or redirected goes with the question, or is the question:
  git diff | hlvm ask "review this"
  hlvm ask < question.txt
It is text in UTF-8, at most 1 MB. A pipe that stays silent for 3 s is left alone; with a last word of - it is waited for
however long it takes:
  npm test 2>&1 | hlvm ask "why does it fail?" -
In a loop that reads standard input itself, give < /dev/null.

While it runs, on a terminal, what you type goes to the run:
  Enter    queues it: the model reads it before its next turn
  Esc      interrupts the turn in hand and goes on with it; with nothing typed, with what is queued
  Ctrl-J   begins a new line; pasted lines are one message
  Ctrl-C   cancels the run; once more ends the command at once
  Ctrl-D   on an empty line: leaves; the run goes on, and \`hlvm session watch\` shows it
A question that appears takes no key of a line that you are typing, and gives the line back afterwards.

Permission modes (L0 reads, L1 changes the workspace in a way that can be taken back, L2 is all else):
${PERMISSION_MODES.map((mode) => `  ${mode.padEnd(18)} ${PERMISSION_MODE_DESCRIPTIONS[mode]}`).join("\n")}

\`hlvm events\` says what the lines of --json mean.`;

type GivenFlags = Omit<AskFlags, "outputFormat" | "waitsForInput"> & { outputFormat?: AskFlags["outputFormat"]; json?: boolean };

export function askCommand(context: CommandContext, finish: Finish): Command {
  const command = new Command("ask");
  for (const option of budgetOptions("this run")) command.addOption(option);
  return command
    .description("ask a question about the folder you are in, and have things done in it")
    .argument("[question...]", "what you want to know or have done")
    .option(
      "--model <provider/name>",
      "the model that answers (see `hlvm model list`); auto: one that fits what is asked; route/NAME: one of a route",
    )
    .option(
      "--workspace <folder or URL>",
      "the folder to work in (default: the one you are in), or a git repository: https://HOST/PATH#REF",
    )
    .option("--upload", "send a copy of the folder's repository to where HLVM runs, with what is not committed, and work in that")
    .option("--upload-secrets", "the same, and send files that are not committed and hold what looks like a secret")
    .option("--agent <name>", "the profile of the agent (see `hlvm agent list`): it narrows what the run may do")
    .option(
      "--attach <file>",
      "give a text, an image (PNG, JPEG, WebP) or a PDF along with the question; may be repeated. Secrets are found in texts only",
      collect,
    )
    .addOption(new Option("--resume <session-id>", "go on with a session").argParser(sessionId))
    .addOption(
      new Option(
        "--allow-secret <secret>",
        'let the model see a secret in this run: the end of its mark (a1b2 of [secret: GitHub token a1b2]), or a kind ("GitHub token"); may be repeated',
      ).argParser(secretName),
    )
    .addOption(new Option("--stateless", "keep and remember nothing of this run").conflicts("resume"))
    .addOption(new Option("--permission-mode <mode>", "what may be done without asking you").choices(PERMISSION_MODES))
    .option("--auto-edit", "the same as --permission-mode acceptEdits")
    .option("--dangerously-skip-permissions", "the same as --permission-mode bypassPermissions")
    .addOption(new Option("--allowedTools <tools>", "allow these tools, for example git_*; may be repeated").argParser(toolPatterns))
    .addOption(
      new Option("--disallowedTools <tools>", "deny these tools whatever else is allowed; may be repeated").argParser(toolPatterns),
    )
    .option("-p, --print", "for scripts: nobody is asked, and only reading is allowed unless a mode is given")
    .addOption(
      new Option("--output-format <format>", "what standard output holds (default: text)").choices(["text", "json", "stream-json"]),
    )
    .addOption(
      new Option("--json", "the same as --output-format stream-json: a line of JSON for every event, and last a `final`").conflicts(
        "outputFormat",
      ),
    )
    .option("--verbose", "also show the model, the session, thinking, and figures of every turn")
    .addHelpText("after", ABOUT_INPUT)
    .action(async (words: string[], { json, outputFormat, ...flags }: GivenFlags) => {
      const { ask } = await import("../commands/ask.ts");
      const waitsForInput = words.at(-1) === "-";
      const question = (waitsForInput ? words.slice(0, -1) : words).join(" ");
      finish(
        await ask(question, { ...flags, waitsForInput, outputFormat: json === true ? "stream-json" : (outputFormat ?? "text") }, context),
      );
    });
}

function secretName(value: string, before: readonly string[] | undefined): string[] {
  if (!/^[A-Za-z0-9][A-Za-z0-9 -]{0,47}$/.test(value))
    throw new InvalidArgumentError(`"${value}" is neither the end of a secret's mark, such as a1b2, nor a kind, such as "GitHub token".`);
  return [...(before ?? []), value];
}

function toolPatterns(value: string, before: readonly string[] | undefined): string[] {
  const patterns = value.split(",").map((pattern) => pattern.trim());
  const wrong = patterns.find((pattern) => !/^[a-z][a-z0-9_]*\*?$/.test(pattern));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is not a tool's name, such as write_file or git_*.`);
  return [...(before ?? []), ...patterns];
}
