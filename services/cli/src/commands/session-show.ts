import { createClient } from "@connectrpc/connect";
import { SessionSchema, SessionService, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { costText } from "../output/cost-text.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { followSession } from "../run/follow-session.ts";
import { workerTree } from "../run/worker-tree.ts";
import { logView } from "../run/log-view.ts";
import { Screen } from "../terminal/screen.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";
import { sessionState } from "./session-list.ts";

const MAXIMUM_WORKERS = 500;

/** A session and its whole log as it is now; with --json the session on the first line and an event on every other. */
export function sessionShow(sessionId: string, flags: { json?: boolean; verbose?: boolean }, context: CommandContext): Promise<number> {
  const view = logView(flags, new Screen(process.stdout, process.stdout, context.config.noColor !== ""));
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        const { session } = await sessions.getSession({ sessionId }, { signal });
        const { sessions: workers } = await sessions.listSessions({ workersOf: sessionId, limit: MAXIMUM_WORKERS }, { signal });
        if (session !== undefined) process.stdout.write(flags.json === true ? jsonLines(session, workers) : heading(session, workers));
        const onLost = (): void => view.connectionLost();
        for await (const event of followSession(sessions, { sessionId, from: 0n, follow: false, signal, onLost })) view.event(event);
      },
      signal,
    ),
  );
}

function jsonLines(session: Session, workers: readonly Session[]): string {
  const lines = workers.map((worker) => jsonLine({ type: "worker", session: messageJson(SessionSchema, worker) }));
  return jsonLine({ type: "session", session: messageJson(SessionSchema, session) }) + lines.join("");
}

function heading(session: Session, workers: readonly Session[]): string {
  return `session ${session.sessionId}
owner ${session.owner} · model ${session.model} · ${sessionState(session)} · ${session.lastSequence} events · cost ${costText(session.cost)}
workspace ${session.workspace}
${session.parentSessionId === "" ? "" : `worker ${session.agentType} of session ${session.parentSessionId}\n`}from ${localTime(session.createdAt)} to ${localTime(session.updatedAt)}
${workerTree(session.sessionId, workers)}
`;
}
