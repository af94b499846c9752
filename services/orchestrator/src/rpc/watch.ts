import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { WatchResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { watchSession } from "../domain/session/watch-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function watchMethod(orchestrator: Orchestrator): ServiceImpl<typeof SessionService>["watch"] {
  return async function* (request, context) {
    const { principal, signal } = callContext(context);
    const watched = {
      principal,
      sessionId: request.sessionId,
      from: Number(request.fromSequence),
      follow: request.follow,
      signal: AbortSignal.any([signal, orchestrator.closing]),
    };
    for await (const events of watchSession(watched, orchestrator)) yield create(WatchResponseSchema, { events: [...events] });
  };
}
