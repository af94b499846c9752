import { resolve } from "node:path";
import pLimit from "p-limit";
import type { Transport } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { compareSettings, type Attempt } from "../eval/compare-settings.ts";
import { evalSetting, modelSetting, type EvalSetting } from "../eval/eval-setting.ts";
import { readBaseline } from "../eval/read-baseline.ts";
import { readTasks, type EvalTask } from "../eval/read-tasks.ts";
import { jsonComparison, summaryLines, trialLine } from "../eval/report-json.ts";
import { attemptsOf, comparisonLine, reportLines, settingsOf, type Judged } from "../eval/report.ts";
import { flawOf, runTrial } from "../eval/run-trial.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

export interface EvalFlags {
  readonly model: readonly string[];
  readonly setting: readonly string[];
  readonly repeat: number;
  readonly atOnce: number;
  readonly baseline?: string;
  readonly json?: boolean;
}

/** Lets models work on tasks and checks what they made, and tells what came of it, also where it was interrupted. */
export async function evaluate(folder: string, flags: EvalFlags, context: CommandContext): Promise<number> {
  const settings = settingsFrom(flags, context.config.model);
  const baseline = flags.baseline === undefined ? undefined : readBaseline(resolve(flags.baseline));
  const tasks = readTasks(resolve(folder));
  const judged: Judged[] = [];
  const flaws = new Map<string, string>();
  const code = await untilInterrupted((signal) =>
    withMesh(context, (transport) => evaluateAll(tasks, settings, { flags, transport, signal, context, judged, flaws }), signal),
  ).finally(() => tell(judged, flaws, flags));
  if (code !== EXIT_OK) {
    context.screen.note("It was interrupted: what is told is what had ended by then.", "warning");
    return code;
  }
  const isWorse = baseline !== undefined && tellAgainst(baseline, judged, flags);
  return isWorse || flaws.size > 0 || judged.some(({ trial }) => trial.outcome === "error") ? EXIT_FAILED : EXIT_OK;
}

function settingsFrom({ model, setting }: EvalFlags, configured: string): EvalSetting[] {
  const settings = [...model.map(modelSetting), ...setting.map((text) => evalSetting(text))];
  const twice = settings.find(({ name }, index) => settings.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw wrongUsage(`"${twice.name}" is given twice.`, "Give each setting once; --repeat has it tried more often.");
  return settings.length > 0 ? settings : [modelSetting(configured)];
}

interface Evaluation {
  readonly flags: EvalFlags;
  readonly transport: Transport;
  readonly signal: AbortSignal;
  readonly context: CommandContext;
  readonly judged: Judged[];
  readonly flaws: Map<string, string>;
}

async function evaluateAll(tasks: readonly EvalTask[], settings: readonly EvalSetting[], evaluation: Evaluation): Promise<void> {
  const { flags, transport, signal, context, judged, flaws } = evaluation;
  const { screen } = context;
  const limit = pLimit(flags.atOnce);
  let done = 0;
  const ended = (text: string): void => {
    done++;
    screen.status(`${done} of ${tasks.length * (1 + settings.length * flags.repeat)}: ${printableLine(text, 100)}`);
  };
  const evaluateTask = async (task: EvalTask): Promise<void> => {
    const flaw = await limit(async () => {
      signal.throwIfAborted();
      return flawOf(task, { transport, signal }).catch((thrown: unknown) => {
        signal.throwIfAborted();
        return fromConnectError(thrown).message;
      });
    });
    ended(task.name);
    if (flaw !== undefined) return void flaws.set(task.name, flaw);
    const trials = settings.flatMap((setting) => Array.from({ length: flags.repeat }, (_, index) => ({ setting, repeat: index + 1 })));
    await Promise.all(
      trials.map(({ setting, repeat }) =>
        limit(async () => {
          signal.throwIfAborted();
          const trial = await runTrial(task, setting, { transport, signal });
          const one = { task: task.name, setting: setting.name, repeat, trial };
          judged.push(one);
          if (flags.json === true) process.stdout.write(trialLine(one));
          ended(`${task.name} ${trial.outcome}`);
        }),
      ),
    );
  };
  try {
    // All come to their ends before the mesh is let go of.
    const all = await Promise.allSettled(tasks.map(evaluateTask));
    const failed = all.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  } finally {
    screen.status("");
    const place = new Map(settings.map(({ name }, index) => [name, index]));
    judged.sort(
      (one, other) =>
        one.task.localeCompare(other.task) || place.get(one.setting)! - place.get(other.setting)! || one.repeat - other.repeat,
    );
  }
}

function tell(judged: readonly Judged[], flaws: ReadonlyMap<string, string>, { json }: EvalFlags): void {
  if (judged.length === 0 && flaws.size === 0) return;
  process.stdout.write(json === true ? summaryLines(judged, flaws) : reportLines(judged, flaws));
}

/** @returns whether less passes under any of the settings than did in the baseline, beyond chance */
function tellAgainst(baseline: readonly Attempt[], judged: readonly Judged[], { json }: EvalFlags): boolean {
  const names = new Set(baseline.map(({ setting }) => setting));
  let isWorse = false;
  for (const setting of settingsOf(judged)) {
    const before = names.size === 1 ? baseline : baseline.filter((one) => one.setting === setting);
    const comparison = compareSettings(before, attemptsOf(judged, setting));
    process.stdout.write((json === true ? jsonComparison : comparisonLine)(setting, "baseline", comparison));
    isWorse ||= comparison.tasks > 0 && comparison.high < 0;
  }
  return isWorse;
}
