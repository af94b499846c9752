import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import { MemoryWorkSchema, MemoryWorkService, type MemoryWork } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { askAbout } from "../domain/memory-work/ask-about.ts";
import type { MemoryWorkStore } from "../domain/memory-work/memory-work-store.ts";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import type { ModelCallParts } from "./model-call-routes.ts";

export interface MemoryWorkPorts extends ModelCallParts {
  readonly store: MemoryWorkStore;
  /** Empty where the mesh is set up with none. */
  readonly model: string;
}

export function memoryWorkRoutes({ store, model, delegations, doorPorts }: MemoryWorkPorts): (router: ConnectRouter) => void {
  const workOf = async (principal: Principal): Promise<MemoryWork> => {
    const allowed = await store.get(principal);
    if (allowed === undefined) return create(MemoryWorkSchema, { model });
    const { until, stored, refused, pausedReason, pausedUntil } = allowed;
    const paused = pausedReason === "" ? {} : { pausedReason, pausedUntil: timestampFromDate(pausedUntil) };
    return create(MemoryWorkSchema, { model, isAllowed: true, until: timestampFromDate(until), stored, refused, ...paused });
  };
  return (router) =>
    router.service(MemoryWorkService, {
      allowMemoryWork: async ({ onlyRenew, sessionId, runId, delegation }, context) => {
        const { principal } = callContext(context);
        const { expiresAt } = requireDelegation(delegations.verify(delegation), { principal, sessionId, runId });
        await store.allow(principal, { delegation, until: new Date(expiresAt * 1_000) }, onlyRenew);
        return { work: await workOf(principal) };
      },
      endMemoryWork: async (_request, context) => {
        const { principal } = callContext(context);
        await store.end(principal);
        return { work: await workOf(principal) };
      },
      labelSession: async ({ model: asked, turnsJson, sessionId, runId, delegation: signed }, context) => {
        const { principal, signal } = callContext(context);
        const delegation = requireDelegation(delegations.verify(signed), { principal, sessionId, runId });
        const ports = doorPorts({ principal: delegation.principal, delegation: signed });
        const { model: answered, answer } = await askAbout(
          { delegation, signed },
          asked,
          { kind: "session", text: turnsJson },
          ports,
          signal,
        );
        return { model: answered, answerJson: answer };
      },
      getMemoryWork: async (_request, context) => ({ work: await workOf(callContext(context).principal) }),
    });
}
