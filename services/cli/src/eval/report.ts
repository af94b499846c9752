import { create } from "@bufbuild/protobuf";
import { CostSchema } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { costText } from "../output/cost-text.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";
import { compareSettings, passRates, type Attempt, type Comparison } from "./compare-settings.ts";
import type { Trial } from "./run-trial.ts";
import { bootstrapInterval, mean, passAll, passAny, wilsonInterval, type Interval } from "./statistics.ts";

export interface Judged {
  readonly task: string;
  readonly setting: string;
  /** From 1. */
  readonly repeat: number;
  readonly trial: Trial;
}

const HEADINGS = [
  "TASK",
  "SETTING",
  "PASSED",
  "RATE (95 %)",
  "EVER",
  "EVERY TIME",
  "ERRORS",
  "DENIED",
  "TURNS",
  "TOKENS",
  "COST",
  "SECONDS",
];

export function attemptsOf(judged: readonly Judged[], setting: string): Attempt[] {
  return judged.filter((one) => one.setting === setting).map(({ task, trial }) => ({ task, setting, outcome: trial.outcome }));
}

/** In the order in which they were given, which is that of their first trials. */
export function settingsOf(judged: readonly Judged[]): string[] {
  return [...new Set(judged.map(({ setting }) => setting))];
}

/** For people: a row a task and setting, a row a setting over its tasks, how settings differ, and the sessions behind what did not pass. */
export function reportLines(judged: readonly Judged[], flaws: ReadonlyMap<string, string>): string {
  const settings = settingsOf(judged);
  const tasks = [...new Set(judged.map(({ task }) => task))];
  const ofCell = (task: string, setting: string): Judged[] => judged.filter((one) => one.task === task && one.setting === setting);
  const rows = tasks.flatMap((task) => settings.map((setting) => taskRow(task, setting, ofCell(task, setting))));
  const means = settings.map((setting) => {
    const rates = [...passRates(attemptsOf(judged, setting)).values()];
    const [ever, always] = [mean(rates.map((rate) => (rate > 0 ? 1 : 0))), mean(rates.map((rate) => (rate === 1 ? 1 : 0)))];
    return ["all tasks", setting, "", share(mean(rates), bootstrapInterval(rates)), percent(ever), percent(always), "", "", "", "", "", ""];
  });
  const lines = [judged.length === 0 ? "No trial has ended.\n" : table(HEADINGS, [...rows, ...means])];
  const first = settings[0] ?? "";
  for (const other of settings.slice(1))
    lines.push(comparisonLine(other, first, compareSettings(attemptsOf(judged, first), attemptsOf(judged, other))));
  for (const { task, setting, trial } of judged.filter((one) => one.trial.outcome !== "passed"))
    lines.push(printableLine(`${trial.outcome}: ${task} by ${setting}: ${trial.why} ${sessionsOf(trial)}`, 400), "\n");
  for (const [task, why] of flaws) lines.push(printableLine(`invalid: ${task}: ${why}`, 400), "\n");
  if (judged.length > 0) lines.push("Over all tasks the interval is by bootstrap over tasks.\n");
  return lines.join("");
}

export function comparisonLine(name: string, other: string, { tasks, difference, low, high, detectable }: Comparison): string {
  if (tasks === 0) return `${name} against ${other}: they have no task in common.\n`;
  const points = (value: number): string => `${value < 0 ? "" : "+"}${(100 * value).toFixed(0)}`;
  const interval = `${points(difference)} points (${points(low)} to ${points(high)})`;
  return `${name} against ${other}, paired by task: ${interval}; about ${(100 * detectable).toFixed(0)} could have been seen.\n`;
}

function taskRow(task: string, setting: string, trials: readonly Judged[]): string[] {
  const counted = trials.filter(({ trial }) => trial.outcome !== "error");
  const count = counted.length;
  const passed = counted.filter(({ trial }) => trial.outcome === "passed").length;
  const figure = (of: (trial: Trial) => number, digits: number): string => mean(counted.map(({ trial }) => of(trial))).toFixed(digits);
  return [
    task,
    setting,
    `${passed} of ${count}`,
    count === 0 ? "-" : share(passed / count, wilsonInterval(passed, count)),
    count === 0 ? "-" : percent(passAny(passed, count, count)),
    count === 0 ? "-" : percent(passAll(passed, count, count)),
    String(trials.reduce((sum, { trial }) => sum + trial.errors, 0)),
    figure(({ denied }) => denied, 1),
    figure(({ turns }) => turns, 1),
    figure(({ tokens }) => tokens, 0),
    meanCost(counted),
    figure(({ milliseconds }) => milliseconds / 1_000, 1),
  ];
}

/** Of a trial; `at least` where the price of some model's calls is not known. */
function meanCost(counted: readonly Judged[]): string {
  const sum = counted.reduce((all, { trial }) => all + (trial.cost?.nanoDollars ?? 0n), 0n);
  const unpricedCalls = counted.reduce((all, { trial }) => all + (trial.cost?.unpricedCalls ?? 0), 0);
  return costText(create(CostSchema, { nanoDollars: sum / BigInt(Math.max(1, counted.length)), unpricedCalls }));
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
