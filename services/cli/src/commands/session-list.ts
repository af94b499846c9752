import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionSchema, SessionService, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "../output/message-json.ts";
import { table } from "../output/table.ts";

export async function sessionList(flags: { limit: number; json?: boolean }, context: CommandContext): Promise<number> {
  const { sessions } = await withMesh(context, (transport) => createClient(SessionService, transport).listSessions({ limit: flags.limit }));
  if (flags.json === true) for (const session of sessions) process.stdout.write(jsonLine(messageJson(SessionSchema, session)));
  else if (sessions.length === 0) context.screen.note('No session yet. Try: hlvm ask "What does this repository do?"');
  else process.stdout.write(table(["SESSION", "CHANGED", "STATE", "MODEL", "TITLE"], sessions.map(row)));
  return EXIT_OK;
}

function row(session: Session): string[] {
  return [session.sessionId, localTime(session.updatedAt), sessionState(session), session.model, session.title];
}

/** `running`, or how its last run ended. */
export function sessionState(session: Session): string {
  if (session.runningRunId !== "") return "running";
  return session.lastStopReason === StopReason.UNSPECIFIED ? "new" : enumWord(StopReasonSchema, session.lastStopReason);
}
