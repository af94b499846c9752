import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { oneJson } from "./login-commands.ts";
import { modelExplainCommand } from "./model-explain-command.ts";
import { modelKeyCommand } from "./model-key-command.ts";
import { jsonOption, wholeNumber } from "./values.ts";

const ABOUT_POOL = `
Slots are this gateway's, and after a slash all that the server has where several gateways divide them. CACHE is how much of the
prompts the server took from its cache, and how much was expected. A server that is drained finishes what it is at. One that
mixed conversations up is drained by itself: start it with --cache-ram 0 --no-cache-idle-slots, then resume it.`;

const ABOUT_SERVE = `
It listens at 127.0.0.1:11439 until Ctrl-C, and nothing is started where something else does. One that dies is started again, three
times within a minute at most. A mesh on this machine finds it there, as local/NAME: \`hlvm model list\` shows it.`;

export function modelCommand(context: CommandContext, finish: Finish): Command {
  const model = new Command("model").description("the models that can be asked");
  model
    .command("list")
    .description("list them, and what to set for those that are not available")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { modelList } = await import("../commands/model-list.ts");
      finish(await modelList(flags, context));
    });
  model.addCommand(modelExplainCommand(context, finish));
  model.addCommand(modelKeyCommand(context, finish));
  const pool = model.command("pool").description("the llama-servers that requests are given to").addHelpText("after", ABOUT_POOL);
  pool
    .command("list", { isDefault: true })
    .description("show each with its slots, what it does, its cache and its health")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { modelPool } = await import("../commands/model-pool.ts");
      finish(await modelPool(flags, context));
    });
  for (const [name, description] of [
    ["drain", "give a server no new requests; those that it is at are not cut"],
    ["resume", "give a drained server requests again"],
  ] as const)
    pool
      .command(name)
      .description(description)
      .argument("<url>", "as `hlvm model pool` shows it")
      .addOption(oneJson())
      .action(async (url: string, flags: { json?: boolean }) => {
        const { modelPoolChange } = await import("../commands/model-pool.ts");
        finish(await modelPoolChange({ name, url }, flags, context));
      });
  model
    .command("serve")
    .description("run llama-server on this machine with the flags that keep conversations apart")
    .argument("<path>", "a model's .gguf file")
    .addOption(new Option("--slots <number>", "how many requests at once").argParser(wholeNumber(1, 64)).default(2))
    .addOption(new Option("--context <tokens>", "of each slot").argParser(wholeNumber(512, 1_048_576)).default(32_768))
    .addHelpText("after", ABOUT_SERVE)
    .action(async (path: string, flags: { slots: number; context: number }) => {
      const { modelServe } = await import("../commands/model-serve.ts");
      finish(await modelServe(path, flags, context));
    });
  return model;
}
