import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { confirm } from "../terminal/confirm.ts";
import { printableLine } from "../terminal/printable.ts";

/** Deletes a session for good, when the person has said so. Files in its workspace and the audit log stay as they are. */
export async function sessionDelete(
  sessionId: string,
  flags: { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const isDeleted = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    const { session } = await sessions.getSession({ sessionId });
    const shown = [
      `session ${sessionId}: ${printableLine(session?.title ?? "")}`,
      `Its ${session?.lastSequence ?? 0n} events are deleted for good. Files in ${session?.workspace ?? ""} and the audit log stay as they are.`,
    ];
    if (flags.yes !== true && !(await confirm(shown, "Delete it?", context))) return false;
    await sessions.deleteSession({ sessionId });
    return true;
  });
  if (flags.json === true) process.stdout.write(jsonLine({ type: "delete", session_id: sessionId, deleted: isDeleted }));
  else context.screen.note(isDeleted ? "Deleted." : "Nothing was deleted.");
  return isDeleted ? EXIT_OK : EXIT_FAILED;
}
