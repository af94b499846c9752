import { createClient } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { pastedImages } from "../options/pasted-images.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { askedFiles, sendWithNotedFiles } from "../run/send-with-files.ts";

export interface SessionSendFlags {
  readonly interrupt?: boolean;
  readonly attach?: readonly string[];
  readonly json?: boolean;
}

/** Says something to the run that goes on in a session. Where none does, it begins one, as `ask --resume` would. */
export async function sessionSend(sessionId: string, text: string, flags: SessionSendFlags, context: CommandContext): Promise<number> {
  if (text.trim() === "") throw wrongUsage("There is nothing to send.", `hlvm session send ${sessionId} "…"`);
  const { question, images } = process.stdin.isTTY ? pastedImages(text) : { question: text, images: [] };
  const files = askedFiles(flags.attach ?? [], images);
  const sent = await withMesh(context, (transport) => {
    const sessions = createClient(SessionService, transport);
    const send = async (attachments: Attachment[]) => {
      try {
        const queued = await sessions.sendMessage({ sessionId, text: question, interrupt: flags.interrupt === true, attachments });
        return { ...queued, queued: true };
      } catch (thrown) {
        if (fromConnectError(thrown).reason !== "no_run") throw thrown;
        const settings = { mode: PermissionMode.DEFAULT, canAsk: true };
        return { ...(await sessions.startRun({ sessionId, prompt: question, settings, attachments })), queued: false };
      }
    };
    return sendWithNotedFiles(send, files, context.screen);
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
