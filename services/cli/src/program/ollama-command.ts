import { Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { askCommand } from "./ask-command.ts";
import { jsonOption } from "./values.ts";

const ABOUT_OLLAMA = `
Nothing else reaches an Ollama: not the default model, not auto, no route. It is where HLVM_OLLAMA_URL says before the mesh starts.`;

export function ollamaCommand(context: CommandContext, finish: Finish): Command {
  const ollama = new Command("ollama")
    .description("the models of an Ollama, which only these commands ask")
    .addHelpText("after", ABOUT_OLLAMA);
  ollama.enablePositionalOptions();
  ollama
    .command("list")
    .description("list them")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { ollamaList } = await import("../commands/ollama-list.ts");
      finish(await ollamaList(flags, context));
    });
  ollama
    .command("ask")
    .description("the same as `hlvm ask --model ollama/NAME`, with its flags behind the name")
    .argument("<name>", "of a model, for example llama3.2:3b")
    .argument("[question...]", "what you want to know or have done")
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (name: string, rest: string[], _flags: unknown, command: Command) => {
      const ask = askCommand(context, finish).copyInheritedSettings(command);
      await ask.parseAsync(["--model", `ollama/${name}`, ...rest], { from: "user" });
    });
  return ollama;
}
