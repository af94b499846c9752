import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";

/** Stops the run that goes on in a session, whoever asked for it and wherever; one that has ended already is no error. */
export async function sessionCancel(sessionId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const runId = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    const { session } = await sessions.getSession({ sessionId });
    const running = session?.runningRunId ?? "";
    if (running === "") return undefined;
    const { cancelled } = await sessions.cancelRun({ sessionId, runId: running });
    return cancelled ? running : undefined;
  });
  if (flags.json === true)
    process.stdout.write(jsonLine({ type: "cancel", session_id: sessionId, run_id: runId, cancelled: runId !== undefined }));
  else context.screen.note(runId === undefined ? "No run goes on in this session." : "The run was cancelled.");
  return EXIT_OK;
}
