import type { UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";

/** What is spent by nobody in particular: calls without a team, for example. */
const NOBODY = "none";
/** As many as colours tell apart; the rest are put together. */
const MOST_SERIES = 5;
const DAY_MILLISECONDS = 86_400_000;

export interface Series {
  readonly name: string;
  readonly nanoDollars: number;
  readonly calls: number;
  /** Calls whose model has no known price. */
  readonly unpricedCalls: number;
  /** Calls that were cut, and are estimated. */
  readonly estimatedCalls: number;
  readonly tokens: number;
  readonly isRest: boolean;
}

export interface Spend {
  /** `2026-11-23`, each day of the range. */
  readonly days: readonly string[];
  /** The dearest first, the rest last. */
  readonly series: readonly Series[];
  /** Nano-dollars by series, then by day, in their order. */
  readonly costs: readonly (readonly number[])[];
}

/**
 * What was spent day by day, stacked by what the rows are of besides their day.
 * @param rows of the dimensions day and another one
 * @param until the last day, its time of day is not read
 */
export function spendOf(rows: readonly UsageRow[], dayCount: number, until: Date): Spend {
  const days = Array.from({ length: dayCount }, (_, at) =>
    new Date(until.getTime() - (dayCount - 1 - at) * DAY_MILLISECONDS).toISOString().slice(0, 10),
  );
  const byName = Map.groupBy(rows, ({ keys }) => keys[1] || NOBODY);
  const all = [...byName]
    .map(([name, own]) => ({ series: summed(name, own), own }))
    .toSorted(({ series: one }, { series: other }) => other.nanoDollars - one.nanoDollars || other.tokens - one.tokens);
  const shown = all.length > MOST_SERIES ? all.slice(0, MOST_SERIES - 1) : all;
  const rest = all.slice(shown.length);
  const restRows = rest.flatMap(({ own }) => own);
  const drawn =
    rest.length === 0 ? shown : [...shown, { series: { ...summed(`${rest.length} others`, restRows), isRest: true }, own: restRows }];
  return {
    days,
    series: drawn.map(({ series }) => series),
    costs: drawn.map(({ own }) => days.map((day) => own.reduce((sum, row) => sum + (row.keys[0] === day ? costOf(row) : 0), 0))),
  };
}

function summed(name: string, rows: readonly UsageRow[]): Series {
  const sum = (of: (row: UsageRow) => bigint | number | undefined): number => rows.reduce((all, row) => all + Number(of(row) ?? 0), 0);
  return {
    name,
    nanoDollars: sum(({ cost }) => cost?.nanoDollars),
    calls: sum(({ calls }) => calls),
    unpricedCalls: sum(({ cost }) => cost?.unpricedCalls),
    estimatedCalls: sum(({ estimatedCalls }) => estimatedCalls),
    tokens: sum(({ usage }) =>
      usage === undefined ? 0n : usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    ),
    isRest: false,
  };
}

function costOf({ cost }: UsageRow): number {
  return Number(cost?.nanoDollars ?? 0n);
}

/** `$0.0042`, `$12.30`; `unknown` where no call of these has a known price. */
export function moneyWord(nanoDollars: number | bigint, unpricedCalls = 0): string {
  const dollars = Number(nanoDollars) / 1e9;
  if (dollars === 0 && unpricedCalls > 0) return "unknown";
  const digits = dollars === 0 || dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 6;
  return `$${dollars.toFixed(digits)}${unpricedCalls > 0 ? " +" : ""}`;
}
