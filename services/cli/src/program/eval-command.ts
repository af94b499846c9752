import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { jsonOption, wholeNumber } from "./values.ts";

interface Given {
  readonly model?: readonly string[];
  readonly repeat: number;
  readonly atOnce: number;
  readonly json?: boolean;
}

const ABOUT = `
A task is a folder in Harbor's form: task.toml, instruction.md, environment/ (the files to work on), tests/test.sh and
solution/solve.sh. Of task.toml these are read: agent.timeout_sec, verifier.timeout_sec (at most 60), and of metadata.hlvm the
budget: turns, tokens. tests/test.sh runs in the workspace's folder, in a fresh sandbox with what the model left there: exit code
0 is passed, 1 is failed, anything else is a check that could not run. A task counts only where it fails as it is and passes
with its solution. Nothing of a task runs outside of a sandbox. What an image would be needed for is named and not run.
Exit codes: 0 all was tried and checked, whatever passed; 1 a task is invalid or a trial ended in an error; 2 wrong usage.`;

export function evalCommand(context: CommandContext, finish: Finish): Command {
  return new Command("eval")
    .description("let models work on tasks, several times each, and check what they made")
    .argument("<folder>", "a task, or a folder of tasks")
    .option("--model <provider/name>", "may be repeated: they are compared (default: the one that is set)", collect)
    .addOption(new Option("--repeat <times>", "how often each model tries each task").argParser(wholeNumber(1, 1_000)).default(4))
    .addOption(new Option("--at-once <number>", "how many sessions at a time").argParser(wholeNumber(1, 64)).default(4))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT)
    .action(async (folder: string, { model = [], ...flags }: Given) => {
      const { evaluate } = await import("../commands/eval.ts");
      finish(await evaluate(folder, { ...flags, model }, context));
    });
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}
