import { InvalidArgumentError, Option } from "commander";
import { parseCount, parseDollars, parseDuration } from "./parse-amount.ts";

/** What may be used, by kind. What is left out is not limited. */
export interface BudgetFlags {
  /** Nano-dollars. */
  readonly maxCost?: bigint;
  readonly maxTokens?: bigint;
  readonly maxTurns?: bigint;
  /** Milliseconds. */
  readonly maxTime?: bigint;
}

/** The four flags that limit a run, or set a budget. */
export function budgetOptions(what: string): Option[] {
  return [
    new Option("--max-cost <dollars>", `US dollars that ${what} may cost, for example 0.50`).argParser(
      amount(parseDollars, "Give US dollars such as 5 or 0.50."),
    ),
    new Option("--max-tokens <number>", `tokens that ${what} may use, in and out: 200000, 200k, 2M`).argParser(
      amount(parseCount, "Give a whole number such as 200000, 200k or 2M."),
    ),
    new Option("--max-turns <number>", `model calls that ${what} may make`).argParser(amount(parseCount, "Give a whole number.")),
    new Option("--max-time <duration>", `time that ${what} may take: 90s, 20m, 2h`).argParser(
      amount(parseDuration, "Give a duration such as 90s, 20m or 2h."),
    ),
  ];
}

/** The budget of a run as the contract has it; undefined where nothing is limited. */
export function runBudget({ maxCost, maxTokens, maxTurns, maxTime }: BudgetFlags) {
  if ([maxCost, maxTokens, maxTurns, maxTime].every((limit) => limit === undefined)) return undefined;
  return { nanoDollars: maxCost, tokens: maxTokens, turns: maxTurns, milliseconds: maxTime };
}

function amount(parse: (text: string) => bigint | undefined, advice: string): (text: string) => bigint {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(advice);
    return value;
  };
}
