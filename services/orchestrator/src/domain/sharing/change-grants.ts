import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { SharingAudit } from "../loop/ports.ts";
import { requireSession } from "../session/require-session.ts";
import type { SessionStore } from "../session/session-store.ts";
import { grantMessage } from "./grant-message.ts";
import type { GrantStore } from "./grant-store.ts";
import type { Grantee, SessionGrant } from "./session-grant.ts";

export interface GrantPorts {
  readonly grants: GrantStore;
  readonly store: SessionStore;
}

/** Called for the person: what is changed is on record before it counts. */
type ChangePorts = GrantPorts & { readonly audit: SharingAudit };

/** @throws HlvmError `session_not_found` */
export async function listGrants(principal: Principal, sessionId: string, { grants, store }: GrantPorts): Promise<SessionGrant[]> {
  await requireSession(store, principal, sessionId, "read");
  return grants.list(sessionId);
}

/** @throws HlvmError `session_not_found`, `session_not_yours`, `session_not_shareable`, `grant_over`, `offer_to_many` */
export async function putGrant(
  principal: Principal,
  sessionId: string,
  grant: Pick<SessionGrant, "kind" | "subject" | "right" | "until">,
  { grants, store, audit }: ChangePorts,
): Promise<SessionGrant> {
  await requireShareable(principal, sessionId, store);
  if (grant.right === "own" && (grant.kind !== "member" || grant.subject === principal.id)) throw offerToMany();
  if (grant.until !== undefined && grant.until.getTime() <= Date.now()) throw grantOver();
  await audit.recordSharing(grantMessage(grant), false);
  return grants.put(principal.organization, sessionId, { ...grant, grantedBy: principal.id });
}

/** @returns whether there was one @throws HlvmError `session_not_found` */
export async function removeGrant(
  principal: Principal,
  sessionId: string,
  grantee: Grantee,
  { grants, store, audit }: ChangePorts,
): Promise<boolean> {
  await requireSession(store, principal, sessionId, "run");
  await audit.recordSharing(grantMessage({ ...grantee, right: "view" }), true);
  return grants.remove(sessionId, grantee);
}

async function requireShareable(principal: Principal, sessionId: string, store: SessionStore): Promise<void> {
  const { owner, stateless, worker } = await requireSession(store, principal, sessionId, "run");
  if (owner !== principal.id) throw notYours(sessionId, owner);
  if (!stateless && worker === undefined) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "session_not_shareable",
    message: stateless ? "A stateless session is deleted after its one run." : "A worker is shared with the session that it works for.",
    advice: worker === undefined ? "Ask without --stateless." : `Share that one: \`hlvm session share ${worker.workspaceSessionId} …\`.`,
  });
}

/** Also administrators, who may look at it: its owner's workspace opens to others by the owner's word alone. */
function notYours(sessionId: string, owner: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "session_not_yours",
    message: `Session ${sessionId} is shared by its owner, ${owner}.`,
    advice: "Ask them, or fork it and share the fork.",
  });
}

function offerToMany(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "offer_to_many",
    message: "A session is handed over to one other person.",
    advice: "Name them: user:NAME.",
  });
}

function grantOver(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "grant_over",
    message: "The time until which it would be shared is over already.",
    advice: "Give a time that is yet to come, or none.",
  });
}
