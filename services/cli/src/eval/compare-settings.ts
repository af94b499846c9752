import { bootstrapInterval, mean, type Interval } from "./statistics.ts";
import type { Outcome } from "./run-trial.ts";

/** What statistics are made of: one attempt at a task, and what came of it. */
export interface Attempt {
  readonly task: string;
  readonly setting: string;
  readonly outcome: Outcome;
}

export interface Comparison extends Interval {
  /** Tasks that both have. */
  readonly tasks: number;
  /** How much more of the tasks passes, from -1 to 1. */
  readonly difference: number;
  /** About the smallest difference that so many tasks could have shown. */
  readonly detectable: number;
}

/** Share of passed attempts by task; errors count for nothing. */
export function passRates(attempts: readonly Attempt[]): Map<string, number> {
  const rates = new Map<string, number>();
  for (const task of new Set(attempts.map((one) => one.task))) {
    const counted = attempts.filter((one) => one.task === task && one.outcome !== "error");
    if (counted.length > 0) rates.set(task, mean(counted.map(({ outcome }) => (outcome === "passed" ? 1 : 0))));
  }
  return rates;
}

/** Paired by task: what makes a task hard is the same for both. */
export function compareSettings(first: readonly Attempt[], second: readonly Attempt[]): Comparison {
  const [before, after] = [passRates(first), passRates(second)];
  const differences = [...after].flatMap(([task, rate]) => (before.has(task) ? [rate - before.get(task)!] : []));
  const { low, high } = differences.length === 0 ? { low: -1, high: 1 } : bootstrapInterval(differences);
  return { tasks: differences.length, difference: mean(differences), low, high, detectable: (high - low) / 2 };
}
