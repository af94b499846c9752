import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority/authority.ts";
import type { AuditLog } from "./audit-log.ts";
import { redactText } from "./redact-text.ts";

export interface BudgetChange {
  /** In canonical JSON: whose budget, of what, and its limit, or that it is removed. */
  readonly json: string;
  /** Of a session that the orchestrator found to be this person's to run in. */
  readonly ofOwnSession: boolean;
  readonly sessionId: string;
}

/**
 * Records that a budget changes, before it does: what cannot be recorded does not change.
 * @throws HlvmError `role_missing`
 */
export async function recordBudgetChange(log: AuditLog, principal: Principal, traceId: string, change: BudgetChange): Promise<bigint> {
  const { json, ofOwnSession, sessionId } = change;
  if (!ofOwnSession) demandAuthority(principal, "set_budgets");
  return log.appendChange({
    kind: "budget_changed",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    ...(ofOwnSession ? { sessionId } : {}),
    arguments: redactText(json),
    traceId,
  });
}
