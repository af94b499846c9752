import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";

export interface SessionGroup {
  readonly name: string;
  readonly sessions: readonly Session[];
}

const DAY_MILLISECONDS = 86_400_000;

/** What needs somebody first, then what runs, then the rest by day; groups without a session are left out. */
export function groupSessions(sessions: readonly Session[], asked: ReadonlySet<string>, now: Date): SessionGroup[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups = new Map<string, Session[]>(
    ["Needs somebody", "Running", "Today", "Yesterday", "Earlier"].map((name) => [name, [] as Session[]]),
  );
  for (const session of sessions) groups.get(groupOf(session))!.push(session);
  return [...groups].map(([name, members]) => ({ name, sessions: members })).filter((group) => group.sessions.length > 0);

  function groupOf({ sessionId, runningRunId, updatedAt }: Session): string {
    if (asked.has(sessionId)) return "Needs somebody";
    if (runningRunId !== "") return "Running";
    const at = updatedAt === undefined ? 0 : timestampDate(updatedAt).getTime();
    if (at >= midnight) return "Today";
    return at >= midnight - DAY_MILLISECONDS ? "Yesterday" : "Earlier";
  }
}
