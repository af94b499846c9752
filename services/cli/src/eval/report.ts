import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";
import type { Trial } from "./run-trial.ts";
import { bootstrapInterval, mean, passAll, wilsonInterval, type Interval } from "./statistics.ts";

export interface Judged {
  readonly task: string;
  readonly model: string;
  /** From 1. */
  readonly repeat: number;
  readonly trial: Trial;
}

const HEADINGS = ["TASK", "MODEL", "PASSED", "RATE (95 %)", "EVERY TIME", "ERRORS", "TURNS", "TOKENS", "SECONDS"];

/** For people: a row a task and model, a row a model over its tasks, how models differ, and the sessions behind what did not pass. */
export function settingLines(judged: readonly Judged[], flaws: ReadonlyMap<string, string>): string {
  const models = [...new Set(judged.map(({ model }) => model))];
  const tasks = [...new Set(judged.map(({ task }) => task))];
  const rows = tasks.flatMap((task) =>
    models.map((model) =>
      taskRow(
        task,
        model,
        judged.filter((one) => one.task === task && one.model === model),
      ),
    ),
  );
  const rates = new Map(models.map((model) => [model, ratesOf(judged.filter((one) => one.model === model))]));
  const means = models.map((model) => {
    const values = [...rates.get(model)!.values()];
    return ["all tasks", model, "", share(mean(values), bootstrapInterval(values)), "", "", "", "", ""];
  });
  const lines = [judged.length === 0 ? "No trial has ended.\n" : table(HEADINGS, [...rows, ...means])];
  for (const other of models.slice(1)) lines.push(`${comparison(rates, models[0]!, other)}\n`);
  for (const { task, model, trial } of judged.filter((one) => one.trial.outcome !== "passed"))
    lines.push(printableLine(`${trial.outcome}: ${task} by ${model}: ${trial.why} ${sessionsOf(trial)}`, 400), "\n");
  for (const [task, why] of flaws) lines.push(printableLine(`invalid: ${task}: ${why}`, 400), "\n");
  if (judged.length > 0) lines.push("Over all tasks the interval is by bootstrap over tasks. Cost is left out: no prices are known.\n");
  return lines.join("");
}

function taskRow(task: string, model: string, trials: readonly Judged[]): string[] {
  const counted = trials.filter(({ trial }) => trial.outcome !== "error");
  const passed = counted.filter(({ trial }) => trial.outcome === "passed").length;
  const figure = (of: (trial: Trial) => number, digits: number): string => mean(counted.map(({ trial }) => of(trial))).toFixed(digits);
  return [
    task,
    model,
    `${passed} of ${counted.length}`,
    counted.length === 0 ? "-" : share(passed / counted.length, wilsonInterval(passed, counted.length)),
    counted.length === 0 ? "-" : percent(passAll(passed, counted.length, counted.length)),
    String(trials.length - counted.length),
    figure(({ turns }) => turns, 1),
    figure(({ tokens }) => tokens, 0),
    figure(({ milliseconds }) => milliseconds / 1_000, 1),
  ];
}

/** Share of passed trials by task; errors count for nothing. */
function ratesOf(trials: readonly Judged[]): Map<string, number> {
  const rates = new Map<string, number>();
  for (const task of new Set(trials.map((one) => one.task))) {
    const counted = trials.filter((one) => one.task === task && one.trial.outcome !== "error");
    if (counted.length > 0) rates.set(task, mean(counted.map(({ trial }) => (trial.outcome === "passed" ? 1 : 0))));
  }
  return rates;
}

/** Paired by task: what makes a task hard is the same for both. */
function comparison(rates: ReadonlyMap<string, ReadonlyMap<string, number>>, one: string, other: string): string {
  const [first, second] = [rates.get(one)!, rates.get(other)!];
  const differences = [...second].flatMap(([task, rate]) => (first.has(task) ? [rate - first.get(task)!] : []));
  const { low, high } = bootstrapInterval(differences);
  const points = (value: number): string => `${value < 0 ? "" : "+"}${(100 * value).toFixed(0)}`;
  const seen = ((100 * (high - low)) / 2).toFixed(0);
  return `${other} against ${one}, paired by task: ${points(mean(differences))} points (${points(low)} to ${points(high)}); about ${seen} could have been seen.`;
}

function share(value: number, { low, high }: Interval): string {
  return `${percent(value)} (${percent(low)}-${percent(high)})`;
}

function percent(value: number): string {
  return `${(100 * value).toFixed(0)} %`;
}

function sessionsOf({ sessionId, checkSessionId }: Trial): string {
  if (sessionId === "") return "";
  return `(hlvm session show ${sessionId}${checkSessionId === "" ? "" : `; its check: ${checkSessionId}`})`;
}
