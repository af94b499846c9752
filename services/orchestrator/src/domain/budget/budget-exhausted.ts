import { HlvmError } from "@hlvm/errors/hlvm-error";
import { BudgetPeriod, BudgetScope, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { describeAmount, describeBudget } from "./describe-budget.ts";

/** A budget does not have what the run needs next, or was used up in the middle of it. */
export class BudgetExhausted extends Error {
  override readonly name = "BudgetExhausted";
  readonly budget: Budget;
  readonly advice: string;

  /** @param when what was about to happen, or was cut: it ends the sentence */
  constructor(budget: Budget, when: string) {
    const { kind, limit, used, reserved } = budget;
    const held = reserved > 0n ? `, ${describeAmount(kind, reserved)} held for what is under way` : "";
    const state = limit === 0n ? "lets nothing happen" : `is used up (${describeAmount(kind, used)} used${held})`;
    const sentence = `${describeBudget(budget)} ${state}, ${when}.`;
    super(sentence[0]!.toUpperCase() + sentence.slice(1));
    this.budget = budget;
    this.advice = adviceFor(budget);
  }
}

/** A budget of money cannot hold what nobody can count. */
export function priceUnknown(model: string, budget: Budget): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "price_unknown",
    message: `Nobody knows what ${model} costs, and ${describeBudget(budget)} limits the money that may be spent.`,
    advice:
      "Choose a model whose price is known with --model (`hlvm model list`), or have its price added to the file that HLVM_PRICES_FILE names.",
  });
}

function adviceFor({ scope, period }: Budget): string {
  const until =
    period === BudgetPeriod.DAY
      ? "Wait until 00:00 UTC, or have"
      : period === BudgetPeriod.MONTH
        ? "Wait until the first of the month, or have"
        : "Have";
  if (scope === BudgetScope.RUN) return "Ask again with a larger budget (--max-cost, --max-tokens, --max-turns, --max-time).";
  if (scope === BudgetScope.SESSION) return `${until} it raised (hlvm budget set session ID …).`;
  return `${until} an administrator raise it (hlvm budget set …); \`hlvm budget list\` shows it.`;
}
