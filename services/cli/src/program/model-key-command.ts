import { Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { oneJson } from "./login-commands.ts";
import { jsonOption, uuidOf } from "./values.ts";

const ABOUT_KEYS = `
A call takes a key of its caller's team where one of these has any for the provider, else one of the organization, else what the
gateway's environment has. Keys are stored encrypted and never shown again; they take the role admin, and each change is recorded
in the audit log. The key itself is read from standard input, or asked for:

  pass show anthropic | hlvm model key add anthropic --team platform`;

const keyId = uuidOf("a key's id; `hlvm model key list` shows them");

export function modelKeyCommand(context: CommandContext, finish: Finish): Command {
  const key = new Command("key").description("keys for providers that belong to your organization").addHelpText("after", ABOUT_KEYS);
  key
    .command("list", { isDefault: true })
    .description("list them, by their last characters")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { modelKeyList } = await import("../commands/model-key.ts");
      finish(await modelKeyList(flags, context));
    });
  key
    .command("add")
    .description("give a key for a provider")
    .argument("<provider>", "anthropic, openai or openai-compatible")
    .option("--team <team>", "for this team's runs alone (default: the whole organization)")
    .option("--name <name>", "to know it by, where there are several (default: default)")
    .addOption(oneJson())
    .action(async (provider: string, { json, ...given }: { team?: string; name?: string; json?: boolean }) => {
      const { modelKeyAdd } = await import("../commands/model-key.ts");
      finish(await modelKeyAdd({ provider, ...given }, { ...(json && { json }) }, context));
    });
  key
    .command("rotate")
    .description("put another key in its place")
    .argument("<id>", "as `hlvm model key list` shows it", keyId)
    .addOption(oneJson())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { modelKeyRotate } = await import("../commands/model-key.ts");
      finish(await modelKeyRotate(id, flags, context));
    });
  key
    .command("remove")
    .description("forget it")
    .argument("<id>", "as `hlvm model key list` shows it", keyId)
    .addOption(oneJson())
    .action(async (id: string, flags: { json?: boolean }) => {
      const { modelKeyRemove } = await import("../commands/model-key.ts");
      finish(await modelKeyRemove(id, flags, context));
    });
  return key;
}
