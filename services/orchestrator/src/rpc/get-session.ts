import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { GetSessionResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { requireSession } from "../domain/session/require-session.ts";
import { encodeSession } from "./encode-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function getSessionMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["getSession"] {
  return async ({ sessionId }, context) => {
    const { principal } = callContext(context);
    return create(GetSessionResponseSchema, { session: encodeSession(await requireSession(store, principal, sessionId, "read")) });
  };
}
