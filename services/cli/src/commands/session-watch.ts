import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { followSession } from "../run/follow-session.ts";
import { logView } from "../run/log-view.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

/** Shows a session's log from an event on, and follows its run until that ends. Ctrl-C ends the watching, not the run. */
export function sessionWatch(
  sessionId: string,
  flags: { from: number; json?: boolean; verbose?: boolean },
  context: CommandContext,
): Promise<number> {
  const view = logView(flags, context.config);
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        const { session } = await sessions.getSession({ sessionId }, { signal });
        const runId = session?.runningRunId ?? "";
        const from = runId === "" ? BigInt(flags.from) : minimum(BigInt(flags.from), session!.lastSequence + 1n);
        const onLost = (): void => view.connectionLost();
        for await (const event of followSession(sessions, { sessionId, from, follow: runId !== "", signal, onLost })) {
          view.event(event);
          if (event.payload.case === "runStopped" && event.runId === runId) return;
        }
      },
      signal,
    ),
  );
}

/** A run that is going on ends with an event after the last one known, so a watcher that begins there cannot miss it. */
function minimum(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
