import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";
import type { AuditEvent } from "../audit/audit-event.ts";
import type { Share, ShareStore } from "./share-store.ts";

/** A person, changing who may use their session: for that session alone the edge signed it. */
export type Sharer = Pick<Delegation, "principal" | "sessionId"> & { readonly traceId: string };

/**
 * Puts it on record that a session is shared, before that counts. That it is theirs to share, the orchestrator has found; and
 * where it is not, a share in their name opens no workspace but their own.
 */
export function recordShare(shares: ShareStore, sharer: Sharer, share: Share): Promise<bigint> {
  return shares.put(sessionOf(sharer), sharer.principal.id, share, eventOf("session_shared", sharer, inWords(share)));
}

export function recordUnshare(shares: ShareStore, sharer: Sharer, share: Pick<Share, "kind" | "subject">): Promise<bigint> {
  return shares.remove(sessionOf(sharer), share, eventOf("session_unshared", sharer, inWords({ ...share, right: "none" })));
}

/** Whoever was offered a session takes it. @throws HlvmError `session_not_offered` */
export async function recordHandOver(shares: ShareStore, sharer: Sharer): Promise<bigint> {
  const { id } = sharer.principal;
  const recorded = await shares.take(sessionOf(sharer), id, eventOf("session_taken", sharer, canonicalJson({ to: id })));
  if (recorded !== undefined) return recorded;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "session_not_offered",
    message: `Session ${sharer.sessionId} was not offered to ${id}.`,
    advice: `Its owner offers it: \`hlvm session hand-over ${sharer.sessionId} --to ${id}\`.`,
  });
}

function sessionOf({ principal, sessionId }: Sharer) {
  return { organization: principal.organization, sessionId };
}

function eventOf(kind: AuditEvent["kind"], { principal, sessionId, traceId }: Sharer, words: string): AuditEvent {
  return {
    kind,
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    sessionId,
    arguments: words,
    traceId,
  };
}

function inWords({ kind, subject, right, until }: Pick<Share, "kind" | "subject" | "until"> & { readonly right: string }): string {
  return canonicalJson({
    with: kind === "organization" ? "organization" : subject,
    kind,
    right,
    until: until?.toISOString() ?? "",
  });
}
