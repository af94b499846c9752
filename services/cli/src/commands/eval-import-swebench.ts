import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { readInstances, type SwebenchInstance } from "../eval/swebench-instance.ts";
import { writeTask } from "../eval/swebench-task.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

export interface EvalImportFlags {
  readonly to: string;
  readonly repositories?: string;
  readonly testCommand: string;
  readonly json?: boolean;
}

/** Makes tasks of SWE-bench's instances. Nothing of a repository is run; what fails is told, and the rest is made. */
export async function evalImportSwebench(file: string, flags: EvalImportFlags, { screen }: CommandContext): Promise<number> {
  if (/\p{Cc}/u.test(flags.testCommand))
    throw wrongUsage("The command for tests has a line feed or a control character.", "Give one line.");
  const instances = readInstances(readText(resolve(file)));
  const to = resolve(flags.to);
  mkdirSync(to, { recursive: true });
  let failed = 0;
  const importOne = async (instance: SwebenchInstance, signal: AbortSignal): Promise<void> => {
    const folder = join(to, instance.id);
    try {
      if (existsSync(folder)) throw new Error(`${folder} is there already`);
      const source = sourceOf(instance, flags.repositories);
      await writeTask(instance, { folder, source, testCommand: flags.testCommand, signal });
      if (flags.json === true) process.stdout.write(jsonLine({ type: "eval_task", task: instance.id, folder }));
    } catch (thrown) {
      signal.throwIfAborted();
      failed++;
      const why = messageOf(thrown);
      if (flags.json === true) process.stdout.write(jsonLine({ type: "eval_task_failed", task: instance.id, why }));
      else screen.note(printableLine(`not imported: ${instance.id}: ${why}`, 400), "bad");
    }
  };
  const code = await untilInterrupted(async (signal) => {
    for (const [index, instance] of instances.entries()) {
      screen.status(`${index + 1} of ${instances.length}: ${instance.id}`);
      await importOne(instance, signal);
    }
  }).finally(() => screen.status(""));
  if (code !== EXIT_OK) return code;
  if (flags.json !== true) screen.note(`${instances.length - failed} of ${instances.length} are in ${to}. Next: hlvm eval ${to}`);
  return failed === 0 ? EXIT_OK : EXIT_FAILED;
}

/** A clone of this machine where there is one, as people name them. */
function sourceOf({ repository }: SwebenchInstance, repositories: string | undefined): string {
  if (repositories === undefined) return `https://github.com/${repository}.git`;
  const names = [repository, repository.replace("/", "__"), repository.slice(repository.indexOf("/") + 1)];
  const paths = names.flatMap((name) => [join(resolve(repositories), name), join(resolve(repositories), `${name}.git`)]);
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`there is no clone of ${repository} in ${repositories}`);
  return found;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "instances_not_readable",
      message: `${path} cannot be read: ${messageOf(cause)}.`,
      advice: "Give the file of SWE-bench's instances.",
      cause,
    });
  }
}
