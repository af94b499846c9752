import { jsonLine } from "../output/json-line.ts";
import { compareSettings, passRates, type Comparison } from "./compare-settings.ts";
import { attemptsOf, settingsOf, type Judged } from "./report.ts";
import { bootstrapInterval, mean, passAll, passAny, wilsonInterval } from "./statistics.ts";

/** A trial as it ends. */
export function trialLine({ task, setting, repeat, trial }: Judged): string {
  const { outcome, why, errors, denied, asked, turns, tokens, cost, milliseconds, sessionId, checkSessionId } = trial;
  const spent = { cost_nano_dollars: Number(cost?.nanoDollars ?? 0n), unpriced_calls: cost?.unpricedCalls ?? 0 };
  const figures = { errors, denied, asked, turns, tokens, ...spent, duration_ms: milliseconds };
  const sessions = { session_id: sessionId, check_session_id: checkSessionId };
  return jsonLine({ type: "trial", task, setting, repeat, outcome, why, ...figures, ...sessions });
}

/** What it all came to: the tasks that are invalid, each task under each setting, each setting, and how settings differ. */
export function summaryLines(judged: readonly Judged[], flaws: ReadonlyMap<string, string>): string {
  const lines = [...flaws].map(([task, why]) => jsonLine({ type: "invalid_task", task, why }));
  const settings = settingsOf(judged);
  for (const setting of settings) {
    const attempts = attemptsOf(judged, setting);
    for (const task of new Set(attempts.map((one) => one.task))) {
      const counted = attempts.filter((one) => one.task === task && one.outcome !== "error").length;
      const passed = attempts.filter((one) => one.task === task && one.outcome === "passed").length;
      const times = Array.from({ length: counted }, (_, index) => index + 1);
      const chances = { pass_any: times.map((k) => passAny(passed, counted, k)), pass_all: times.map((k) => passAll(passed, counted, k)) };
      lines.push(jsonLine({ type: "task", task, setting, passed, counted, ...wilsonInterval(passed, counted), ...chances }));
    }
  }
  const [first = ""] = settings;
  for (const other of settings.slice(1))
    lines.push(jsonComparison(other, first, compareSettings(attemptsOf(judged, first), attemptsOf(judged, other))));
  for (const setting of settings) {
    const rates = [...passRates(attemptsOf(judged, setting)).values()];
    lines.push(jsonLine({ type: "final", setting, tasks: rates.length, pass_rate: mean(rates), ...bootstrapInterval(rates) }));
  }
  return lines.join("");
}

/** @param against another setting, or `baseline` */
export function jsonComparison(setting: string, against: string, comparison: Comparison): string {
  return jsonLine({ type: "comparison", setting, against, ...comparison });
}
