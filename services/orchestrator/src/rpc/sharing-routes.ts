import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import {
  CommentResponseSchema,
  ListGrantsResponseSchema,
  PutGrantResponseSchema,
  RemoveGrantResponseSchema,
  SharingService,
  TakeSessionResponseSchema,
  type SessionGrant as GrantMessage,
} from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import { listGrants, putGrant, removeGrant } from "../domain/sharing/change-grants.ts";
import { comment } from "../domain/sharing/comment.ts";
import type { GrantStore } from "../domain/sharing/grant-store.ts";
import { grantMessage } from "../domain/sharing/grant-message.ts";
import { SESSION_RIGHTS, type Grantee } from "../domain/sharing/session-grant.ts";
import { takeSession } from "../domain/sharing/take-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

export interface SharingPorts extends Pick<Orchestrator, "store" | "delegations" | "mesh"> {
  readonly grants: GrantStore;
}

export function sharingRoutes(ports: SharingPorts): (router: ConnectRouter) => void {
  return (router) =>
    router.service(SharingService, {
      listGrants: async ({ sessionId }, context) => {
        const grants = await listGrants(callContext(context).principal, sessionId, ports);
        return create(ListGrantsResponseSchema, { grants: grants.map(grantMessage) });
      },
      putGrant: putGrantMethod(ports),
      removeGrant: removeGrantMethod(ports),
      takeSession: async ({ sessionId, runId, delegation }, context) => {
        const { principal } = callContext(context);
        requireDelegation(ports.delegations.verify(delegation), { principal, sessionId, runId });
        const { audit } = ports.mesh({ principal, delegation });
        return create(TakeSessionResponseSchema, { formerOwner: await takeSession(principal, sessionId, { ...ports, audit }) });
      },
      comment: async ({ sessionId, text }, context) => {
        const sequence = await comment(callContext(context).principal, sessionId, text, ports.store);
        return create(CommentResponseSchema, { sequence: BigInt(sequence) });
      },
    });
}

/** The orchestrator has it recorded for the person with what the edge signed for this one change. */
function putGrantMethod(ports: SharingPorts): ServiceImpl<typeof SharingService>["putGrant"] {
  return async ({ sessionId, grant, runId, delegation }, context) => {
    const { principal } = callContext(context);
    requireDelegation(ports.delegations.verify(delegation), { principal, sessionId, runId });
    const { audit } = ports.mesh({ principal, delegation });
    const { right, until } = grant!;
    const wanted = { ...granteeOf(grant!), right: SESSION_RIGHTS[right - 1] ?? "view", until: until && timestampDate(until) };
    const put = await putGrant(principal, sessionId, wanted, { ...ports, audit });
    return create(PutGrantResponseSchema, { grant: grantMessage(put) });
  };
}

function removeGrantMethod(ports: SharingPorts): ServiceImpl<typeof SharingService>["removeGrant"] {
  return async ({ sessionId, grant, runId, delegation }, context) => {
    const { principal } = callContext(context);
    requireDelegation(ports.delegations.verify(delegation), { principal, sessionId, runId });
    const { audit } = ports.mesh({ principal, delegation });
    return create(RemoveGrantResponseSchema, { existed: await removeGrant(principal, sessionId, granteeOf(grant!), { ...ports, audit }) });
  };
}

function granteeOf({ to }: GrantMessage): Grantee {
  if (to.case === "principal") return { kind: "member", subject: to.value };
  return to.case === "team" ? { kind: "team", subject: to.value } : { kind: "organization", subject: "" };
}
