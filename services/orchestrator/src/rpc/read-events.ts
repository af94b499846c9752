import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ReadEventsResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { fitEvents } from "../domain/log/fit-events.ts";
import { withholdMemory } from "../domain/sharing/withhold-memory.ts";
import { requireSession } from "../domain/session/require-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

const DEFAULT_LIMIT = 500;

/** A page of a session's log for whoever may read the session: what a page shows first is at the end. */
export function readEventsMethod({ store, log }: Pick<Orchestrator, "store" | "log">): ServiceImpl<typeof SessionService>["readEvents"] {
  return async ({ sessionId, before, limit, settled }, context) => {
    const { principal } = callContext(context);
    await requireSession(store, principal, sessionId, "read");
    const page = { before: Number(before), limit: limit || DEFAULT_LIMIT, settled };
    const { events, hasMore } = await log.readBefore(sessionId, page);
    return create(ReadEventsResponseSchema, { events: [...fitEvents(withholdMemory(events, principal.id))].flat(), hasMore });
  };
}
