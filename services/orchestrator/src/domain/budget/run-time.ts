import { create } from "@bufbuild/protobuf";
import { BudgetKind, BudgetPeriod, BudgetSchema, BudgetScope, type RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { Interruption } from "../run/interruption.ts";
import { BudgetExhausted } from "./budget-exhausted.ts";

/** How long a run may take since it began, and why it ends then: its own budget, or what every run may take. */
export function runTime(
  { lease, budget }: { readonly lease: { readonly runId: string }; readonly budget?: RunBudget },
  mostMilliseconds: number,
): { readonly milliseconds: number; readonly reason: Error } {
  const own = budget?.milliseconds;
  if (own === undefined || own >= mostMilliseconds) return { milliseconds: mostMilliseconds, reason: new Interruption("timeout") };
  const used = { scope: BudgetScope.RUN, subject: lease.runId, kind: BudgetKind.TIME, period: BudgetPeriod.NONE, limit: own, used: own };
  return { milliseconds: Number(own), reason: new BudgetExhausted(create(BudgetSchema, used), "and the run was stopped") };
}
