import { createClient } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";

export interface SessionSendFlags {
  readonly interrupt?: boolean;
  readonly json?: boolean;
}

/** Says something to the run that goes on in a session. Where none does, it begins one, as `ask --resume` would. */
export async function sessionSend(sessionId: string, text: string, flags: SessionSendFlags, context: CommandContext): Promise<number> {
  if (text.trim() === "") throw wrongUsage("There is nothing to send.", `hlvm session send ${sessionId} "…"`);
  const sent = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    try {
      const { runId, sequence } = await sessions.sendMessage({ sessionId, text, interrupt: flags.interrupt === true });
      return { runId, sequence, queued: true };
    } catch (thrown) {
      if (fromConnectError(thrown).reason !== "no_run") throw thrown;
      const settings = { mode: PermissionMode.DEFAULT, canAsk: true };
      const { runId, sequence } = await sessions.startRun({ sessionId, prompt: text, settings });
      return { runId, sequence, queued: false };
    }
  });
  const { runId, sequence, queued } = sent;
  if (flags.json === true)
    process.stdout.write(jsonLine({ type: "sent", session_id: sessionId, run_id: runId, sequence: Number(sequence), queued }));
  else
    context.screen.note(
      queued
        ? "It is queued: the model reads it before its next turn."
        : `No run was going on: this is the question of a new one. Follow it with \`hlvm session watch ${sessionId} --from ${sequence}\`.`,
    );
  return EXIT_OK;
}
