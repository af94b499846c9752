import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { HookInstallFlags } from "../commands/hook-install.ts";
import type { HookTestFlags } from "../commands/hook-test.ts";
import { HOOK_TOOLS } from "../hook/hook-tool.ts";
import { jsonOption } from "./values.ts";

export function hookCommand(context: CommandContext, finish: Finish): Command {
  const hook = new Command("hook").description("have Claude Code, Codex and Cursor reminded of what memory holds");
  hook
    .command("install")
    .description("add it to the settings of the tools that are here; it only notes what it would say until --live")
    .addOption(toolsOption())
    .option("--live", "put it before the model")
    .addOption(jsonOption())
    .action(async (flags: HookInstallFlags) => {
      const { hookInstall } = await import("../commands/hook-install.ts");
      finish(hookInstall(flags, context));
    });
  hook
    .command("uninstall")
    .description("make their settings what they were")
    .addOption(toolsOption())
    .addOption(jsonOption())
    .action(async (flags: HookInstallFlags) => {
      const { hookUninstall } = await import("../commands/hook-install.ts");
      finish(hookUninstall(flags, context));
    });
  hook
    .command("status")
    .description("where it is installed, what it did last, how long it takes, and whether it has fallen silent")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { hookStatusCommand } = await import("../commands/hook-status.ts");
      finish(hookStatusCommand(flags, context));
    });
  hook
    .command("test")
    .description("what it would say of a prompt, and why; notes nothing")
    .argument("<prompt...>", "what would be typed")
    .addOption(new Option("--tool <tool>", "as this one is answered").choices(HOOK_TOOLS).default("claude-code"))
    .addOption(jsonOption())
    .action(async (words: string[], flags: HookTestFlags) => {
      const { hookTest } = await import("../commands/hook-test.ts");
      finish(await hookTest(words.join(" "), flags, context));
    });
  // What the tools call: bin/hlvm comes to the same program without all of this.
  hook
    .command("run", { hidden: true })
    .allowUnknownOption()
    .argument("[words...]")
    .action(async () => {
      await import("../hook/main.ts");
    });
  return hook;
}

function toolsOption(): Option {
  return new Option("--tool <tools...>", "only these").choices(HOOK_TOOLS);
}
