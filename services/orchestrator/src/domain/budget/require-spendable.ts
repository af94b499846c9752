import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";

const FLAGS = { tokens: "--max-tokens", nanoDollars: "--max-cost", turns: "--max-turns", milliseconds: "--max-time" } as const;

/** @throws HlvmError `budget_zero`: a run that may use nothing could only end before it began */
export function requireSpendable(budget: RunBudget | undefined): void {
  if (budget === undefined) return;
  for (const [field, flag] of Object.entries(FLAGS) as [keyof typeof FLAGS, string][])
    if (budget[field] === 0n)
      throw new HlvmError({
        code: "invalid_argument",
        reason: "budget_zero",
        message: `A run with a budget of 0 (${flag}) could do nothing.`,
        advice: "Give it more than 0, or leave it out. A local model, such as demo/rules, costs no money.",
      });
}
