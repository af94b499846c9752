import { resolve } from "node:path";
import pLimit from "p-limit";
import type { Transport } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { readTasks, type EvalTask } from "../eval/read-tasks.ts";
import { settingLines, type Judged } from "../eval/report.ts";
import { flawOf, runTrial, type Trial } from "../eval/run-trial.ts";
import { bootstrapInterval, mean, wilsonInterval } from "../eval/statistics.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

export interface EvalFlags {
  /** Empty: the one that is set. */
  readonly model: readonly string[];
  readonly repeat: number;
  readonly atOnce: number;
  readonly json?: boolean;
}

/** Lets models work on tasks and checks what they made, and tells what came of it, also where it was interrupted. */
export async function evaluate(folder: string, flags: EvalFlags, context: CommandContext): Promise<number> {
  const tasks = readTasks(resolve(folder));
  const judged: Judged[] = [];
  const flaws = new Map<string, string>();
  const code = await untilInterrupted((signal) =>
    withMesh(context, (transport) => evaluateAll(tasks, { flags, transport, signal, context, judged, flaws }), signal),
  ).finally(() => tell(judged, flaws, flags));
  if (code !== EXIT_OK) context.screen.note("It was interrupted: what is told is what had ended by then.", "warning");
  return code === EXIT_OK && (flaws.size > 0 || judged.some(({ trial }) => trial.outcome === "error")) ? EXIT_FAILED : code;
}

interface Evaluation {
  readonly flags: EvalFlags;
  readonly transport: Transport;
  readonly signal: AbortSignal;
  readonly context: CommandContext;
  readonly judged: Judged[];
  readonly flaws: Map<string, string>;
}

async function evaluateAll(tasks: readonly EvalTask[], evaluation: Evaluation): Promise<void> {
  const { flags, transport, signal, context, judged, flaws } = evaluation;
  const { screen, config } = context;
  const limit = pLimit(flags.atOnce);
  const models = flags.model.length > 0 ? flags.model : [config.model];
  let done = 0;
  const ended = (text: string): void => {
    done++;
    screen.status(`${done} of ${tasks.length * (1 + models.length * flags.repeat)}: ${printableLine(text, 100)}`);
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
    const trials = models.flatMap((model) => Array.from({ length: flags.repeat }, (_, index) => ({ model, index })));
    await Promise.all(
      trials.map(({ model, index }) =>
        limit(async () => {
          signal.throwIfAborted();
          const trial: Trial = await runTrial(task, model, { transport, signal });
          const one = { task: task.name, model, repeat: index + 1, trial };
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
  }
}

function tell(judged: readonly Judged[], flaws: ReadonlyMap<string, string>, { json }: EvalFlags): void {
  if (judged.length === 0 && flaws.size === 0) return;
  const inOrder = judged.toSorted(
    (one, other) => one.task.localeCompare(other.task) || one.model.localeCompare(other.model) || one.repeat - other.repeat,
  );
  if (json !== true) return void process.stdout.write(settingLines(inOrder, flaws));
  for (const [task, why] of flaws) process.stdout.write(jsonLine({ type: "invalid_task", task, why }));
  for (const model of new Set(inOrder.map((one) => one.model))) {
    const rates: number[] = [];
    for (const task of new Set(inOrder.map((one) => one.task))) {
      const counted = inOrder.filter((one) => one.task === task && one.model === model && one.trial.outcome !== "error");
      const passed = counted.filter(({ trial }) => trial.outcome === "passed").length;
      if (counted.length > 0) rates.push(passed / counted.length);
      const interval = wilsonInterval(passed, counted.length);
      process.stdout.write(jsonLine({ type: "task", task, model, passed, counted: counted.length, ...interval }));
    }
    process.stdout.write(jsonLine({ type: "final", model, tasks: rates.length, pass_rate: mean(rates), ...bootstrapInterval(rates) }));
  }
}

/** As it ends, for programs. */
function trialLine({ task, model, repeat, trial }: Judged): string {
  const { outcome, why, turns, tokens, milliseconds, sessionId, checkSessionId } = trial;
  const figures = { turns, tokens, duration_ms: milliseconds, session_id: sessionId, check_session_id: checkSessionId };
  return jsonLine({ type: "trial", task, model, repeat, outcome, why, ...figures });
}
