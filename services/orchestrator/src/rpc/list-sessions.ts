import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { ListSessionsResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { encodeSession } from "./encode-session.ts";
import type { Orchestrator } from "./orchestrator.ts";
import { decodePageToken, encodePageToken } from "./page-token.ts";

const DEFAULT_LIMIT = 50;

export function listSessionsMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["listSessions"] {
  return async ({ limit, pageToken }, context) => {
    const { organization, id } = callContext(context).principal;
    const { sessions, end } = await store.listOwned(organization, id, limit || DEFAULT_LIMIT, decodePageToken(pageToken));
    return create(ListSessionsResponseSchema, {
      sessions: sessions.map(encodeSession),
      nextPageToken: end === undefined ? "" : encodePageToken(end),
    });
  };
}
