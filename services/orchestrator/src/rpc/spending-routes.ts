import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import {
  ListBudgetsResponseSchema,
  ListCacheBreaksResponseSchema,
  PutBudgetResponseSchema,
  QueryUsageResponseSchema,
  SpendingService,
} from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { BudgetStore } from "../domain/budget/budget-store.ts";
import { changeBudget } from "../domain/budget/change-budget.ts";
import { maySeeSpendingOfAll, type UsageLog } from "../domain/budget/usage-log.ts";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import type { Orchestrator } from "./orchestrator.ts";

export interface SpendingPorts extends Pick<Orchestrator, "store" | "delegations" | "mesh"> {
  readonly budgets: BudgetStore;
  readonly usage: UsageLog;
}

export function spendingRoutes(ports: SpendingPorts): (router: ConnectRouter) => void {
  return (router) =>
    router.service(SpendingService, {
      listBudgets: async (_, context) => {
        const { principal } = callContext(context);
        const owner = maySeeSpendingOfAll(principal) ? undefined : principal.id;
        return create(ListBudgetsResponseSchema, { budgets: await ports.budgets.list(principal.organization, owner) });
      },
      putBudget: putBudgetMethod(ports),
      queryUsage: async ({ by, since, until }, context) => {
        const { principal } = callContext(context);
        const { organization, id } = principal;
        const ofEverybody = maySeeSpendingOfAll(principal);
        const period = { since: since && timestampDate(since), until: until && timestampDate(until) };
        const rows = await ports.usage.query({ organization, principal: ofEverybody ? undefined : id, by, ...period });
        return create(QueryUsageResponseSchema, { rows, ofEverybody });
      },
      listCacheBreaks: async ({ since, until, sessionId }, context) => {
        const { principal } = callContext(context);
        const { organization, id } = principal;
        const ofEverybody = maySeeSpendingOfAll(principal);
        const period = { since: since && timestampDate(since), until: until && timestampDate(until) };
        const which = { organization, principal: ofEverybody ? undefined : id, sessionId: sessionId || undefined, ...period };
        return create(ListCacheBreaksResponseSchema, { ...(await ports.usage.breaks(which)), ofEverybody });
      },
    });
}

/** The orchestrator acts for the person with what the edge signed for this one change. */
function putBudgetMethod({ budgets, store, delegations, mesh }: SpendingPorts): ServiceImpl<typeof SpendingService>["putBudget"] {
  return async ({ scope, subject, kind, period, limit, sessionId, runId, delegation }, context) => {
    const { principal } = callContext(context);
    requireDelegation(delegations.verify(delegation), { principal, sessionId, runId });
    const { audit } = mesh({ principal, delegation });
    const changed = await changeBudget(principal, { scope, subject, kind, period }, limit, { budgets, store, audit });
    return create(PutBudgetResponseSchema, changed);
  };
}
