import { realpathSync } from "node:fs";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import {
  ArchiveFilter,
  SessionSchema,
  SessionService,
  SessionState,
  WhoseSessions,
  type ListSessionsRequestSchema,
  type Session,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { fromCurrentFolder } from "../options/from-current-folder.ts";
import { costText } from "../output/cost-text.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const PAGE_SIZE = 500;

export interface SessionListFlags {
  readonly limit: number;
  readonly all?: boolean;
  readonly text?: string;
  readonly archived?: boolean;
  readonly withArchived?: boolean;
  readonly withWorkers?: boolean;
  readonly workspace?: string;
  readonly model?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly state?: string;
  readonly mine?: boolean;
  readonly shared?: boolean;
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
        for await (const page of pages(sessions, filterOf(flags), flags.all === true ? Infinity : flags.limit, signal)) {
          hasMore = page.hasMore;
          if (flags.json === true)
            process.stdout.write(page.sessions.map((session, index) => jsonLine(json(session, page.excerpts[index]))).join(""));
          else rows.push(...page.sessions.map((session, index) => row(session, page.excerpts[index])));
        }
      },
      signal,
    );
    if (flags.json === true) return;
    if (rows.length === 0) return context.screen.note(nothingFound(flags));
    process.stdout.write(
      table(["SESSION", "CHANGED", "STATE", "OWNER", "MODEL", "COST", "TITLE", ...(flags.text === undefined ? [] : ["FOUND"])], rows),
    );
    if (hasMore) context.screen.note(`These are the latest ${rows.length}; --all shows every one, --limit more.`, "dim");
  });
}

function filterOf(flags: SessionListFlags): MessageInitShape<typeof ListSessionsRequestSchema> {
  const { text, archived, withArchived, withWorkers, workspace, model, since, until, state, mine, shared } = flags;
  return {
    text,
    whose: mine === true ? WhoseSessions.MINE : shared === true ? WhoseSessions.SHARED_WITH_ME : undefined,
    archived: archived === true ? ArchiveFilter.ONLY : withArchived === true ? ArchiveFilter.INCLUDED : undefined,
    workspace: workspace === undefined ? undefined : realFolder(workspace),
    model,
    withWorkers,
    since: since && timestampFromDate(since),
    until: until && timestampFromDate(until),
    state: state === "new" ? SessionState.NEW : state === "running" ? SessionState.RUNNING : undefined,
    lastStopReason: state === undefined ? undefined : StopReason[state.toUpperCase() as keyof typeof StopReason],
  };
}

/** Sessions of a folder that is gone by now can still be listed. */
function realFolder(folder: string): string {
  const path = fromCurrentFolder(folder);
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function nothingFound(flags: SessionListFlags): string {
  const isNarrowed = Object.values(filterOf(flags)).some((value) => value !== undefined);
  return isNarrowed ? "No session fits." : 'No session yet. Try: hlvm ask "What does this repository do?"';
}

interface Page {
  readonly sessions: readonly Session[];
  readonly excerpts: readonly string[];
  readonly hasMore: boolean;
}

async function* pages(
  sessions: Client<typeof SessionService>,
  filter: MessageInitShape<typeof ListSessionsRequestSchema>,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Page, void> {
  let left = limit;
  for (let pageToken = ""; left > 0;) {
    signal.throwIfAborted();
    const page = await sessions.listSessions({ ...filter, limit: Math.min(left, PAGE_SIZE), pageToken }, { signal });
    yield { sessions: page.sessions, excerpts: page.excerpts, hasMore: page.nextPageToken !== "" };
    left -= page.sessions.length;
    pageToken = page.nextPageToken;
    if (pageToken === "") return;
  }
}

function row(session: Session, excerpt?: string): string[] {
  const columns = [
    session.sessionId,
    localTime(session.updatedAt),
    sessionState(session),
    session.owner.replace(/^user:/, ""),
    session.model,
    costText(session.cost),
    session.title,
  ];
  return excerpt === undefined ? columns : [...columns, excerpt];
}

function json(session: Session, excerpt?: string): object {
  return { ...messageJson(SessionSchema, session), ...(excerpt === undefined ? {} : { excerpt }) };
}

/** `running`, or how its last run ended. */
export function sessionState(session: Session): string {
  if (session.runningRunId !== "") return "running";
  return session.lastStopReason === StopReason.UNSPECIFIED ? stateBeforeRuns(session) : enumWord(StopReasonSchema, session.lastStopReason);
}

function stateBeforeRuns({ forkedFrom, imported }: Session): string {
  if (forkedFrom !== "") return "forked";
  return imported ? "imported" : "new";
}
