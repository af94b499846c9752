import { createClient } from "@connectrpc/connect";
import { SessionSchema, SessionService, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { costText } from "../output/cost-text.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "../output/message-json.ts";
import { followSession } from "../run/follow-session.ts";
import { logView } from "../run/log-view.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";
import { sessionState } from "./session-list.ts";

/** A session and its whole log as it is now; with --json the session on the first line and an event on every other. */
export function sessionShow(sessionId: string, flags: { json?: boolean; verbose?: boolean }, context: CommandContext): Promise<number> {
  const view = logView(flags, context.config);
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        const { session } = await sessions.getSession({ sessionId }, { signal });
        if (session !== undefined)
          process.stdout.write(
            flags.json === true ? jsonLine({ type: "session", session: messageJson(SessionSchema, session) }) : heading(session),
          );
        const onLost = (): void => view.connectionLost();
        for await (const event of followSession(sessions, { sessionId, from: 0n, follow: false, signal, onLost })) view.event(event);
      },
      signal,
    ),
  );
}

function heading(session: Session): string {
  return `session ${session.sessionId}
owner ${session.owner} · model ${session.model} · ${sessionState(session)} · ${session.lastSequence} events · cost ${costText(session.cost)}
workspace ${session.workspace}
from ${localTime(session.createdAt)} to ${localTime(session.updatedAt)}

`;
}
