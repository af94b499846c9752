import { Command } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { jsonOption } from "./values.ts";

const ABOUT_SCORES = `
A model is taken by what is known of it and by plain words of the task; no model is asked. Each part is from 0 to 1, and counts as
often as stands behind it: 0.50x3. Routes are those of the file that HLVM_ROUTES_FILE names.`;

export function modelExplainCommand(context: CommandContext, finish: Finish): Command {
  return new Command("explain")
    .description("say which model `hlvm ask --model auto` would take for a task, and why")
    .argument("<task...>", "what you would ask")
    .option("--route <name>", "explain this route instead")
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_SCORES)
    .action(async (words: string[], flags: { route?: string; json?: boolean }) => {
      const { modelExplain } = await import("../commands/model-explain.ts");
      finish(await modelExplain(words.join(" "), flags, context));
    });
}
