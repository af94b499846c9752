import { Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { jsonOption } from "./values.ts";

const ABOUT_FILES = `
Profiles come with HLVM, and from files: ~/.hlvm/agents/*.md are yours; .hlvm/agents/*.md and Claude Code's .claude/agents/*.md
of a workspace count where you name one with \`hlvm ask --agent NAME\`. A profile narrows what a run may do, and widens nothing.
A file has front matter, and instructions below it:
  ---
  name: reviewer
  description: Reviews a change
  tools: [read_file, search_code, git_diff]
  temperature: 0.1
  ---
  Look for what could go wrong first.
Further keys: model (provider/name, auto or route/NAME), maxTokens, instructions, workers (profiles that it may start), disallowedTools.`;

export function agentCommand(context: CommandContext, finish: Finish): Command {
  const agent = new Command("agent")
    .description("profiles of agents: what each is for, and what it may use")
    .addHelpText("after", ABOUT_FILES);
  agent
    .command("list")
    .description("list them, and what is wrong in the files of those that are left out")
    .option("--workspace <folder>", "with those of this folder (default: the one you are in)")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean; workspace?: string }) => {
      const { agentList } = await import("../commands/agent-list.ts");
      finish(await agentList(flags, context));
    });
  agent
    .command("show")
    .description("show one, with its instructions")
    .argument("<name>", "see `hlvm agent list`")
    .option("--workspace <folder>", "look in this folder too (default: the one you are in)")
    .addOption(jsonOption())
    .action(async (name: string, flags: { json?: boolean; workspace?: string }) => {
      const { agentShow } = await import("../commands/agent-show.ts");
      finish(await agentShow(name, flags, context));
    });
  return agent;
}
