import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ArchiveFilter, SessionService, WhoseSessions, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { FoundFile } from "@hlvm/transcripts/find-transcripts";
import type { ReadTurn, Tally } from "@hlvm/transcripts/read-turn";
import type { Transcripts } from "./scan-source.ts";

/** The tool whose sessions are the mesh's own. */
export const OWN_TOOL = "hlvm";
const SESSIONS_A_PAGE = 200;
const EVENTS_A_PAGE = 2_000;

/**
 * The person's own sessions in this mesh, read as other tools' files are: what people and models said. What tools gave stays in the
 * session, where `hlvm session show` finds it. Sessions that others share are theirs.
 */
export function ownSessions(transport: Transport): Transcripts {
  const client = createClient(SessionService, transport);
  const sessions = new Map<string, Session>();
  return {
    find: () => findSessions(client, sessions),
    read: (sessionId, tally) => readSession(client, sessions.get(sessionId)!, tally),
  };
}

async function* findSessions(client: Client<typeof SessionService>, known: Map<string, Session>): AsyncGenerator<FoundFile> {
  const filter = { limit: SESSIONS_A_PAGE, archived: ArchiveFilter.INCLUDED, whose: WhoseSessions.MINE };
  let pageToken = "";
  do {
    const page = await client.listSessions({ ...filter, pageToken });
    for (const session of page.sessions) {
      known.set(session.sessionId, session);
      const changedAt = session.updatedAt === undefined ? 0 : timestampDate(session.updatedAt).getTime();
      yield { path: session.sessionId, device: 0, inode: 0, bytes: Number(session.lastSequence), changedAt };
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/** Pages come from the end; only what was said is held until the beginning is there. */
async function* readSession(
  client: Client<typeof SessionService>,
  { sessionId, title, workspace }: Session,
  tally: Tally,
): AsyncGenerator<ReadTurn> {
  const said: ReadTurn[] = [];
  let before = 0n;
  for (;;) {
    const { events, hasMore } = await client.readEvents({ sessionId, before, limit: EVENTS_A_PAGE, settled: true });
    tally.read += events.length;
    said.push(
      ...events
        .map(saidIn)
        .filter((turn) => turn !== undefined)
        .toReversed(),
    );
    if (!hasMore || events.length === 0) break;
    before = events[0]!.sequence;
  }
  for (const turn of said.toReversed()) yield { ...turn, title, folder: workspace };
}

function saidIn({ sessionId: session, sequence, at, payload }: Event): ReadTurn | undefined {
  const turn = { session, key: String(sequence), saidAt: at && timestampDate(at) };
  if (payload.case === "userMessage") return { ...turn, speaker: "person", text: payload.value.text };
  if (payload.case === "assistantMessage" && payload.value.text !== "") return { ...turn, speaker: "assistant", text: payload.value.text };
  return undefined;
}
