import { once } from "node:events";
import { createClient } from "@connectrpc/connect";
import { ExportFormat, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { printable } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const FORMATS = { ndjson: ExportFormat.NDJSON, markdown: ExportFormat.MARKDOWN } as const;
export type ExportWord = keyof typeof FORMATS;

/** Writes a session to standard output, as it is read: for programs, and to be imported again, or for people. */
export function sessionExport(sessionId: string, flags: { readonly format: ExportWord }, context: CommandContext): Promise<number> {
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        for await (const { text } of sessions.exportSession({ sessionId, format: FORMATS[flags.format] }, { signal }))
          await write(process.stdout.isTTY ? printable(text) : text, signal);
      },
      signal,
    ),
  );
}

/** Waits for a reader that is slower than the session is read. */
async function write(text: string, signal: AbortSignal): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain", { signal });
}
