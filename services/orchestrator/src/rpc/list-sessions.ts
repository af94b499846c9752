import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { callContext } from "@hlvm/rpc/call-context";
import {
  ListSessionsResponseSchema,
  WhoseSessions,
  type ListSessionsRequest,
  type SessionService,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { searchWords } from "../domain/log/search-words.ts";
import { excerpt } from "../domain/session/excerpt.ts";
import type { SessionFilter } from "../domain/session/session-store.ts";
import { encodeSession } from "./encode-session.ts";
import type { Orchestrator } from "./orchestrator.ts";
import { decodePageToken, encodePageToken } from "./page-token.ts";

const DEFAULT_LIMIT = 50;
const MAXIMUM_WORDS = 16;

/** By the numbers of the contract's ArchiveFilter and SessionState, which are checked before. */
const ARCHIVED = ["without", "only", "with"] as const;
const STATES = [undefined, "new", "running", "ended"] as const;

export function listSessionsMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["listSessions"] {
  return async (request, context) => {
    const { principal } = callContext(context);
    const filter = filterOf(request);
    const page = await store.listFor(principal, filter, request.limit || DEFAULT_LIMIT, decodePageToken(request.pageToken));
    const { sessions, end } = page;
    return create(ListSessionsResponseSchema, {
      sessions: sessions.map(encodeSession),
      nextPageToken: end === undefined ? "" : encodePageToken(end),
      excerpts: filter.words.length === 0 ? [] : sessions.map(({ found }) => (found === undefined ? "" : excerpt(found, filter.words))),
    });
  };
}

function filterOf(request: ListSessionsRequest): SessionFilter {
  const { text, archived, workspace, model, since, until, state, lastStopReason, withWorkers, workersOf, whose } = request;
  const words = searchWords(text).slice(0, MAXIMUM_WORDS);
  if (words.length === 0 && text.trim() !== "") throw withoutWords();
  return {
    words,
    archived: ARCHIVED[archived] ?? "without",
    workspace,
    model,
    since: since && timestampDate(since),
    until: until && timestampDate(until),
    state: STATES[state],
    lastStopReason: lastStopReason || undefined,
    withWorkers,
    workersOf,
    isOwn: whose === WhoseSessions.UNSPECIFIED ? undefined : whose === WhoseSessions.MINE,
  };
}

/** All sessions would be an answer to another question. */
function withoutWords(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "search_without_words",
    message: "There is no letter and no number in the text to search for.",
    advice: "Give a word, or the beginning of one, that was said in the session.",
  });
}
