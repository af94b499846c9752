import { dollarsText } from "@hlvm/ndjson/dollars-text";
import { BudgetKind, BudgetPeriod, BudgetScope, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";

/** A budget for a person: `the budget of $5.00 a day of user:ada`. */
export function describeBudget({ scope, subject, kind, period, limit }: Budget): string {
  const time = period === BudgetPeriod.DAY ? " a day" : period === BudgetPeriod.MONTH ? " a month" : "";
  return `the budget of ${describeAmount(kind, limit)}${time} of ${ownerOf(scope, subject)}`;
}

/** `$0.0123`, `1200 tokens`, `3 turns`, `90 s`. */
export function describeAmount(kind: BudgetKind, amount: bigint): string {
  switch (kind) {
    case BudgetKind.MONEY:
      return dollarsText(amount);
    case BudgetKind.TURNS:
      return `${amount} ${amount === 1n ? "turn" : "turns"}`;
    case BudgetKind.TIME:
      return `${Number(amount) / 1_000} s`;
    default:
      return `${amount} tokens`;
  }
}

function ownerOf(scope: BudgetScope, subject: string): string {
  switch (scope) {
    case BudgetScope.ORGANIZATION:
      return "the organization";
    case BudgetScope.TEAM:
      return `team ${subject}`;
    case BudgetScope.SESSION:
      return "this session";
    case BudgetScope.TOKEN:
      return `the token ${subject}`;
    case BudgetScope.RUN:
      return "this run";
    default:
      return subject;
  }
}
