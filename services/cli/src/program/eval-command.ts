import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { EvalReplayFlags } from "../commands/eval-replay.ts";
import type { EvalImportFlags } from "../commands/eval-import-swebench.ts";
import { collect, jsonOption, wholeNumber } from "./values.ts";

interface Given {
  readonly model?: readonly string[];
  readonly setting?: readonly string[];
  readonly baseline?: string;
  readonly repeat: number;
  readonly atOnce: number;
  readonly json?: boolean;
}

const ABOUT = `
A task is a folder in Harbor's form: task.toml, instruction.md, environment/ (the files to work on), tests/test.sh and
solution/solve.sh. Of task.toml these are read: agent.timeout_sec, verifier.timeout_sec (at most 60), and of metadata.hlvm the
budget: turns, tokens. tests/test.sh runs in the workspace's folder, in a fresh sandbox with what the model left there: exit code
0 is passed, 1 is failed, anything else is a check that could not run. A task counts only where it fails as it is and passes
with its solution. Nothing of a task runs outside of a sandbox. A task that needs
an image runs where the operator has unpacked that (docs/images.md); else it is named and not run.
SWE-bench's instances become tasks with \`hlvm eval import swebench FILE --to FOLDER\`: their tests run with the programs that
this machine has, within the time of a check; one whose environment is not there does not pass with its solution: invalid.
A setting is made of model=PROVIDER/NAME, mode=PERMISSION_MODE (bypassPermissions where none is given: the workspace is a copy
without network; nobody is asked) and disallow=TOOL,TOOL. A trial that a service or a provider spoilt is made again twice.
RATE is with its 95 % interval, by Wilson for a task, by bootstrap over tasks for all; EVER and EVERY TIME tell of all trials of
a task. Settings are compared with the first, paired by task. Against a baseline a setting has the one of its name there, or the
only one; less passes where the interval of the difference lies below 0.
Exit codes: 0 all was tried and checked, whatever passed; 1 a task is invalid, a trial ended in an error, or less passes than in
the baseline; 2 wrong usage.`;

const ABOUT_REPLAY = `
A replay is a session of its own, listed, priced and kept like any other; what it tells is computed from its log. Of a fork, calls
that read what the recorded session read from that turn on get the recorded results, until either of the two has written something;
from then on everything runs in the copy, which has nothing to do with the recorded session's files.
Exit codes: 0 it came to its end, whatever it tells; 1 it did not; 2 wrong usage.`;

export function evalCommand(context: CommandContext, finish: Finish): Command {
  const command = new Command("eval")
    .description("let models work on tasks, several times each, and check what they made")
    .argument("<folder>", "a task, or a folder of tasks")
    .option("--model <provider/name>", "may be repeated: they are compared (default: the one that is set)", collect)
    .option(
      "--setting <pairs>",
      'a model and more, for example "model=a/b disallow=shell_exec"; may be repeated, and is compared too',
      collect,
    )
    .option("--baseline <file>", "what an earlier `hlvm eval --json` printed: exit code 1 where less passes than then")
    .addOption(new Option("--repeat <times>", "how often each model tries each task").argParser(wholeNumber(1, 1_000)).default(4))
    .addOption(new Option("--at-once <number>", "how many sessions at a time").argParser(wholeNumber(1, 64)).default(4))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT)
    .action(async (folder: string, { model = [], setting = [], ...flags }: Given) => {
      const { evaluate } = await import("../commands/eval.ts");
      finish(await evaluate(folder, { ...flags, model, setting }, context));
    });
  command.enablePositionalOptions();
  command
    .command("replay")
    .description("try what a recorded session did over again: against other rules, with another model, or from one of its turns on")
    .argument("<session>", "its id")
    .option("--decisions", "put its calls to policy under the setting, as it is now; no model is asked and nothing runs")
    .option("--next-turn", "at each turn give the model what the recorded one had, and compare what it would call; nothing runs")
    .addOption(
      new Option("--fork <turn>", "go on from before a turn, in a fork with a copy of the files as they were then").argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
    .option("--model <provider/name>", "the model of the replay (default: the session's)")
    .option("--setting <pairs>", 'for example "mode=plan disallow=shell_exec"; mode is default, and bypassPermissions for a fork')
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_REPLAY)
    .action(async (id: string, flags: EvalReplayFlags) => {
      const { evalReplay } = await import("../commands/eval-replay.ts");
      finish(await evalReplay(id, flags, context));
    });
  const imported = command.command("import").description("make tasks of those of others");
  imported
    .command("swebench")
    .description("instances of SWE-bench, one JSON object a line: the repository's files, its problem, and its tests for the check alone")
    .argument("<file>", "the instances")
    .requiredOption("--to <folder>", "where the tasks are made, a folder each")
    .option("--repositories <folder>", "clones of this machine, as OWNER/NAME, OWNER__NAME or NAME (default: fetched from GitHub)")
    .option("--test-command <command>", "what runs tests, whose names follow it", "pytest -q -p no:cacheprovider")
    .addOption(jsonOption())
    .action(async (file: string, flags: EvalImportFlags) => {
      const { evalImportSwebench } = await import("../commands/eval-import-swebench.ts");
      finish(await evalImportSwebench(file, flags, context));
    });
  return command;
}
