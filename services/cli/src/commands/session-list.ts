import { createClient, type Client } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionSchema, SessionService, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "../output/message-json.ts";
import { table } from "../output/table.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const PAGE_SIZE = 500;

export interface SessionListFlags {
  readonly limit: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Sessions, the one that changed last first; with --json each page as it comes. */
export function sessionList(flags: SessionListFlags, context: CommandContext): Promise<number> {
  const rows: string[][] = [];
  let hasMore = false;
  return untilInterrupted(async (signal) => {
    await withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        for await (const page of pages(sessions, flags.all === true ? Infinity : flags.limit, signal)) {
          hasMore = page.hasMore;
          if (flags.json === true)
            process.stdout.write(page.sessions.map((session) => jsonLine(messageJson(SessionSchema, session))).join(""));
          else rows.push(...page.sessions.map(row));
        }
      },
      signal,
    );
    if (flags.json === true) return;
    if (rows.length === 0) return context.screen.note('No session yet. Try: hlvm ask "What does this repository do?"');
    process.stdout.write(table(["SESSION", "CHANGED", "STATE", "MODEL", "TITLE"], rows));
    if (hasMore) context.screen.note(`These are the latest ${rows.length}; --all shows every one, --limit more.`, "dim");
  });
}

async function* pages(
  sessions: Client<typeof SessionService>,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<{ sessions: readonly Session[]; hasMore: boolean }, void> {
  let left = limit;
  for (let pageToken = ""; left > 0;) {
    signal.throwIfAborted();
    const page = await sessions.listSessions({ limit: Math.min(left, PAGE_SIZE), pageToken }, { signal });
    yield { sessions: page.sessions, hasMore: page.nextPageToken !== "" };
    left -= page.sessions.length;
    pageToken = page.nextPageToken;
    if (pageToken === "") return;
  }
}

function row(session: Session): string[] {
  return [session.sessionId, localTime(session.updatedAt), sessionState(session), session.model, session.title];
}

/** `running`, or how its last run ended. */
export function sessionState(session: Session): string {
  if (session.runningRunId !== "") return "running";
  return session.lastStopReason === StopReason.UNSPECIFIED ? "new" : enumWord(StopReasonSchema, session.lastStopReason);
}
