import { Argument, Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";

const ABOUT_SERVE = `
For example for Claude Code:  claude mcp add hlvm-memory -- hlvm mcp serve memory
Its tools: memory_search, recall_sessions, get_session, cite_session. They read what is yours, in the folder in which it is started.`;

export function mcpCommand(context: CommandContext, finish: Finish): Command {
  const mcp = new Command("mcp").description("the Model Context Protocol, for other agents");
  mcp
    .command("serve")
    .description("serve memory by standard input and output, until the input ends")
    .addArgument(new Argument("<what>", "what to serve").choices(["memory"]))
    .addHelpText("after", ABOUT_SERVE)
    .action(async () => {
      const { mcpServeMemory } = await import("../commands/mcp-serve-memory.ts");
      finish(await mcpServeMemory(context));
    });
  return mcp;
}
