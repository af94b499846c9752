import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { followSession } from "../run/follow-session.ts";
import { logView } from "../run/log-view.ts";
import { Interrupts } from "../terminal/interrupts.ts";

/** Shows a session's log from an event on, and follows its run until that ends. Ctrl-C ends the watching, not the run. */
export async function sessionWatch(
  sessionId: string,
  flags: { from: number; json?: boolean; verbose?: boolean },
  context: CommandContext,
): Promise<number> {
  using interrupts = new Interrupts();
  const view = logView(flags, context.config);
  await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    const { session } = await sessions.getSession({ sessionId });
    const runId = session?.runningRunId ?? "";
    const from = runId === "" ? BigInt(flags.from) : minimum(BigInt(flags.from), session!.lastSequence + 1n);
    try {
      for await (const event of followSession(sessions, { sessionId, from, follow: runId !== "", signal: interrupts.signal })) {
        view.event(event);
        if (event.payload.case === "runStopped" && event.runId === runId) return;
      }
    } catch (thrown) {
      if (!interrupts.signal.aborted) throw thrown;
    }
  });
  return interrupts.exitCode ?? EXIT_OK;
}

/** A run that is going on ends with an event after the last one known, so a watcher that begins there cannot miss it. */
function minimum(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
