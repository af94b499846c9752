import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { requireSession } from "./require-session.ts";
import type { Session } from "./session.ts";
import type { SessionChanges, SessionStore } from "./session-store.ts";
import { titleOf } from "./title-of.ts";

/**
 * Gives a session another title, or puts it out of the way.
 * @throws HlvmError `session_not_found`, `title_empty`
 */
export async function changeSession(
  principal: Principal,
  sessionId: string,
  changes: SessionChanges,
  store: SessionStore,
): Promise<Session> {
  const session = await requireSession(store, principal, sessionId, "run");
  const title = changes.title === undefined ? undefined : titleOf(new RunSecrets(session.secretKey, []).redact(changes.title));
  if (title === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "title_empty",
      message: "A title needs a character that can be seen.",
      advice: "Give it a few words.",
    });
  await store.update(sessionId, { title, archived: changes.archived });
  return requireSession(store, principal, sessionId, "run");
}

/**
 * Deletes a session with its log, for good.
 * @throws HlvmError `session_not_found`, `run_in_progress`, `session_unreconciled`
 */
export async function deleteSession(principal: Principal, sessionId: string, store: SessionStore): Promise<void> {
  await requireSession(store, principal, sessionId, "run");
  await store.delete(sessionId);
}
