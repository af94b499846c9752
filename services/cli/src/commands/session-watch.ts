import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { followSession } from "../run/follow-session.ts";
import { logView } from "../run/log-view.ts";
import { Steering } from "../run/steering.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { Screen } from "../terminal/screen.ts";
import { TerminalInput } from "../terminal/terminal-input.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

/**
 * Shows a session's log from an event on, and follows its run until that ends; on a terminal, what is typed goes to the run.
 * Ctrl-C ends the watching, not the run.
 */
export function sessionWatch(
  sessionId: string,
  flags: { from: number; json?: boolean; verbose?: boolean },
  context: CommandContext,
): Promise<number> {
  const { noColor, terminal } = context.config;
  const screen = new Screen(process.stdout, process.stdout, noColor !== "");
  const view = logView(flags, screen);
  const canType = flags.json !== true && isInteractive([process.stdin, process.stdout], terminal);
  return untilInterrupted((signal, interrupt) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        const { session } = await sessions.getSession({ sessionId }, { signal });
        const runId = session?.runningRunId ?? "";
        const from = runId === "" ? BigInt(flags.from) : minimum(BigInt(flags.from), session!.lastSequence + 1n);
        using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: interrupt });
        const steered = { screen, input, sessions, sessionId, onLeave: interrupt, controlC: "ends the watching" };
        using steering = canType && runId !== "" ? new Steering(steered) : undefined;
        const onLost = (): void => view.connectionLost();
        for await (const event of followSession(sessions, { sessionId, from, follow: runId !== "", signal, onLost })) {
          view.event(event);
          steering?.event(event);
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
