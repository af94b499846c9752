import { readFileSync, statSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { fromCurrentFolder } from "../options/from-current-folder.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { printSession } from "./session-update.ts";

/** What the contract takes. */
const MAXIMUM_BYTES = 12 * 1024 * 1024;

/**
 * Makes a session from a file that `hlvm session export` wrote. It works in the folder that is given, whatever the file says.
 * @throws HlvmError `import_not_readable`, or what is wrong with which line
 */
export async function sessionImport(
  file: string,
  flags: { readonly workspace?: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const ndjson = readImport(fromCurrentFolder(file));
  const workspace = readWorkspace(flags.workspace ?? ".");
  const session = await withMesh(context, async (transport) => {
    return (await createClient(SessionService, transport).importSession({ ndjson, workspace })).session!;
  });
  return printSession(
    session,
    flags,
    context,
    `Imported as session ${session.sessionId}. Go on with: hlvm ask --resume ${session.sessionId} "…"`,
  );
}

function readImport(path: string): string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new Error("it is no file");
    if (stat.size > MAXIMUM_BYTES) throw new Error(`it has ${stat.size} bytes, and ${MAXIMUM_BYTES} are the most that can be imported`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "import_not_readable",
      message: `${path} cannot be imported: ${(cause as Error).message}.`,
      advice: "Give a file that `hlvm session export ID > FILE` wrote.",
      cause,
    });
  }
}
