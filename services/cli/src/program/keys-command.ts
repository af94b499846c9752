import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";

export function keysCommand(context: CommandContext, finish: Finish): Command {
  const keys = new Command("keys").description("the keys with which the services of this machine's mesh sign");
  keys
    .command("rotate")
    .description("give every service a new one, while the mesh runs; what the old ones signed counts for a day more")
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (flags: { json?: boolean }) => {
      const { keysRotate } = await import("../commands/keys-rotate.ts");
      finish(await keysRotate(flags, context));
    });
  return keys;
}
