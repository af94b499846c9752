import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceGrant } from "@hlvm/grant/workspace-grant";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionRightSchema, type SessionGrant, type SessionRight } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { recordHandOver, recordShare, recordUnshare, type Sharer } from "../domain/sharing/record-sharing.ts";
import { workspaceUse } from "../domain/sharing/workspace-use.ts";
import type { TeamStore } from "../domain/identity/team-store.ts";
import type { Share, ShareStore } from "../domain/sharing/share-store.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { numbersOf, wordOf } from "./words.ts";

const rights = numbersOf<Share["right"], SessionRight>(SessionRightSchema);

export interface WorkspaceGrantPorts {
  readonly shares: ShareStore;
  readonly teams: Pick<TeamStore, "of">;
  readonly signWorkspaceGrant: (grant: Omit<WorkspaceGrant, "expiresAt">) => string;
}

export function sharingRecordMethods(shares: ShareStore): Pick<ServiceImpl<typeof AuditService>, "recordSharing" | "recordHandOver"> {
  return {
    recordSharing: async ({ grant, removed }, context) => {
      const share = decodeShare(grant!);
      refuseControlCharacters({ with: share.subject });
      const sharer = sharerOf(context);
      return { id: await (removed ? recordUnshare(shares, sharer, share) : recordShare(shares, sharer, share)) };
    },
    recordHandOver: async (_request, context) => ({ id: await recordHandOver(shares, sharerOf(context)) }),
  };
}

/** For whoever calls, be it a person or their run: it says no more than what was shared with them. */
export function grantWorkspaceMethod({
  shares,
  teams,
  signWorkspaceGrant,
}: WorkspaceGrantPorts): ServiceImpl<typeof PolicyService>["grantWorkspace"] {
  return async ({ sessionId }, context) => {
    const { organization, id } = callContext(context).principal;
    const found = await shares.find({ organization, sessionId });
    if (found === undefined) return { grant: "" };
    const isOwner = found.owner === id;
    const use = isOwner ? "drive" : workspaceUse(found.shares, { id, teams: await teams.of(organization, id) });
    if (use === undefined) return { grant: "" };
    return { grant: signWorkspaceGrant({ organization, sessionId, principal: id, owner: found.workspaceOwner, use }) };
  };
}

function sharerOf(context: HandlerContext): Sharer {
  const { principal, delegation, traceId } = callContext(context);
  return { principal, sessionId: demandDelegation(delegation).sessionId, traceId };
}

function decodeShare({ to, right, until }: SessionGrant): Share {
  const limits = { right: wordOf(rights, right) ?? "view", until: until && timestampDate(until) };
  if (to.case === "principal") return { kind: "member", subject: to.value, ...limits };
  return to.case === "team" ? { kind: "team", subject: to.value, ...limits } : { kind: "organization", subject: "", ...limits };
}
