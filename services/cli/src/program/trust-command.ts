import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { TrustAddFlags } from "../commands/trust-add.ts";
import { jsonOption, sessionId } from "./values.ts";

const ABOUT_TRUST = `
HLVM.md, AGENTS.md and CLAUDE.md of a workspace, at its top and in its folders, and .hlvm/HLVM.md steer the agent only when you
have trusted them. Trust is yours, of one workspace, and of the texts that you saw: a changed file is left out until you have
seen what changed. ~/.hlvm/HLVM.md is your own, and needs none.`;

export function trustCommand(context: CommandContext, finish: Finish): Command {
  const trust = new Command("trust").description("whose instructions the agent follows").addHelpText("after", ABOUT_TRUST);
  trust
    .command("list")
    .description("list the workspaces whose instructions you trust")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { trustList } = await import("../commands/trust-list.ts");
      finish(await trustList(flags, context));
    });
  trust
    .command("add")
    .description("see a workspace's instructions, or what changed in them, and trust them")
    .argument("[folder]", "the workspace (default: the folder you are in)")
    .addOption(new Option("--session <session-id>", "the workspace of a session, such as a clone").argParser(sessionId))
    .option("--yes", "for scripts: trust them without being asked")
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (folder: string | undefined, flags: TrustAddFlags) => {
      const { trustAdd } = await import("../commands/trust-add.ts");
      finish(await trustAdd(folder, flags, context));
    });
  trust
    .command("remove")
    .description("trust a workspace's instructions no longer")
    .argument("<workspace>", "a folder, or a name as `hlvm trust list` shows it")
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (workspace: string, flags: { json?: boolean }) => {
      const { trustRemove } = await import("../commands/trust-remove.ts");
      finish(await trustRemove(workspace, flags, context));
    });
  return trust;
}
