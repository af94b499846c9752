import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { CommandContext, Finish } from "./command.ts";
import { agentCommand } from "./program/agent-command.ts";
import { applyCommand } from "./program/apply-command.ts";
import { approvalCommand } from "./program/approval-command.ts";
import { askCommand } from "./program/ask-command.ts";
import { auditCommand } from "./program/audit-command.ts";
import { evalCommand } from "./program/eval-command.ts";
import { hookCommand } from "./program/hook-command.ts";
import { keysCommand } from "./program/keys-command.ts";
import { loginCommands } from "./program/login-commands.ts";
import { adminCommand, groupCommand, memberCommand } from "./program/member-commands.ts";
import { ollamaCommand } from "./program/ollama-command.ts";
import { mcpCommand } from "./program/mcp-command.ts";
import { memoryCommand } from "./program/memory-command.ts";
import { meshCommands } from "./program/mesh-commands.ts";
import { modelCommand } from "./program/model-command.ts";
import { planCommand, questionCommand } from "./program/plan-command.ts";
import { sessionCommand } from "./program/session-command.ts";
import { teamCommand } from "./program/team-command.ts";
import { tokenCommand } from "./program/token-command.ts";
import { trustCommand } from "./program/trust-command.ts";
import { budgetCommand, costCommand } from "./program/spending-commands.ts";
import { jsonOption } from "./program/values.ts";

/**
 * Every command with its flags. What a command does is imported when it runs, so that help costs no more than these
 * declarations.
 */
export function createProgram(context: CommandContext, finish: Finish): Command {
  const program = new Command("hlvm")
    .description("Ask an agent that reads, edits and runs things in a sandbox, and see who allowed what.")
    .version(version(), "-V, --version", "print the version")
    .option("--profile <name>", "which login to use, of `hlvm profile list`; stands before the command")
    .exitOverride()
    // What stands behind a command is its own: `eval import … --json` is not that of `eval`.
    .enablePositionalOptions()
    .showHelpAfterError("(see `hlvm --help`, or `hlvm COMMAND --help`)")
    .addHelpText(
      "after",
      `
Try:
  hlvm ask "What does this repository do?"
  hlvm ask --permission-mode acceptEdits "create hello.txt with hi"
  hlvm audit query --since 1h
  hlvm cost --by day,model`,
    );
  const people = [askCommand, applyCommand, evalCommand, agentCommand, sessionCommand, planCommand, questionCommand, approvalCommand];
  for (const command of [
    ...people,
    auditCommand,
    trustCommand,
    tokenCommand,
    teamCommand,
    memberCommand,
    groupCommand,
    adminCommand,
    costCommand,
    budgetCommand,
    memoryCommand,
    mcpCommand,
    hookCommand,
    keysCommand,
  ])
    program.addCommand(inherit(program, command(context, finish)));
  program.addCommand(inherit(program, modelCommand(context, finish)));
  program.addCommand(inherit(program, ollamaCommand(context, finish)));
  program.addCommand(inherit(program, eventsCommand(finish)));
  for (const command of [...loginCommands(context, finish), ...meshCommands(context, finish)])
    program.addCommand(inherit(program, command));
  return program;
}

function eventsCommand(finish: Finish): Command {
  return new Command("events")
    .description("say what the events of a session mean: the lines of --json")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { events } = await import("./commands/events.ts");
      finish(events(flags));
    });
}

function inherit(program: Command, command: Command): Command {
  command.copyInheritedSettings(program);
  for (const inner of command.commands) inner.copyInheritedSettings(program);
  return command;
}

function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
