import { BudgetKindSchema, BudgetPeriodSchema, BudgetScopeSchema, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { enumWord } from "./enum-word.ts";
import type { JsonObject } from "./json-object.ts";

/** A budget for a program; money in nano-dollars, time in milliseconds. */
export function budgetFields({ scope, subject, kind, period, limit, used, reserved }: Budget): JsonObject {
  return {
    scope: enumWord(BudgetScopeSchema, scope),
    subject,
    kind: enumWord(BudgetKindSchema, kind),
    period: enumWord(BudgetPeriodSchema, period),
    limit: Number(limit),
    used: Number(used),
    reserved: Number(reserved),
  };
}
