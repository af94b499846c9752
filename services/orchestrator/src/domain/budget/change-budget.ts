import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { BudgetKindSchema, BudgetPeriodSchema, BudgetScope, BudgetScopeSchema, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { BudgetAudit } from "../loop/ports.ts";
import { requireSession } from "../session/require-session.ts";
import type { SessionStore } from "../session/session-store.ts";
import type { BudgetKey, BudgetStore } from "./budget-store.ts";

export interface BudgetChangePorts {
  readonly budgets: Pick<BudgetStore, "put" | "remove">;
  readonly store: SessionStore;
  /** Called for the person: policy says whether they may. */
  readonly audit: BudgetAudit;
}

export interface ChangedBudget {
  /** As it is now; undefined where it was removed. */
  readonly budget?: Budget;
  readonly existed: boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SUBJECTS: Partial<Record<BudgetScope, { readonly form: RegExp; readonly advice: string }>> = {
  [BudgetScope.ORGANIZATION]: { form: /^$/, advice: "The organization is one's own: name nothing." },
  [BudgetScope.TEAM]: { form: /^[^\p{C}]+$/u, advice: "Name the team." },
  [BudgetScope.USER]: { form: /^user:[^\p{C}]+$/u, advice: "Name the person as `user:ada`." },
  [BudgetScope.TOKEN]: { form: UUID, advice: "Give the token's id; `hlvm token list` shows yours." },
  [BudgetScope.SESSION]: { form: UUID, advice: "Give the session's id; `hlvm session list` shows yours." },
};

/**
 * Sets a budget, or removes it where there is no limit. It is in the audit log before it counts.
 * @throws HlvmError `budget_subject_invalid`, `session_not_found`, `role_missing`
 */
export async function changeBudget(
  principal: Principal,
  key: Omit<BudgetKey, "organization">,
  limit: bigint | undefined,
  { budgets, store, audit }: BudgetChangePorts,
): Promise<ChangedBudget> {
  requireSubject(key);
  const { organization } = principal;
  const sessionId = key.scope === BudgetScope.SESSION ? key.subject : undefined;
  if (sessionId !== undefined) await requireSession(store, principal, sessionId, "run");
  await audit.recordBudgetChange(inWords(key, limit), sessionId !== undefined);
  const whole = { organization, ...key };
  return limit === undefined ? { existed: await budgets.remove(whole) } : budgets.put(whole, limit, sessionId);
}

function requireSubject({ scope, subject }: Pick<BudgetKey, "scope" | "subject">): void {
  const known = SUBJECTS[scope];
  if (known?.form.test(subject) === true) return;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "budget_subject_invalid",
    message: `${JSON.stringify(subject)} is nothing that a budget can be of.`,
    advice: known?.advice ?? "Budgets are set for the organization, a team, a person, a token or a session; a run brings its own.",
  });
}

function inWords({ scope, subject, kind, period }: Omit<BudgetKey, "organization">, limit: bigint | undefined): string {
  return canonicalJson({
    scope: enumWord(BudgetScopeSchema, scope),
    subject,
    kind: enumWord(BudgetKindSchema, kind),
    period: enumWord(BudgetPeriodSchema, period),
    limit: limit === undefined ? "removed" : limit.toString(),
  });
}
