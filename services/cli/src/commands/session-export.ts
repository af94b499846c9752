import { createClient } from "@connectrpc/connect";
import { ExportFormat, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { writeOutput } from "../output/write-output.ts";
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
          await writeOutput(process.stdout.isTTY ? printable(text) : text, signal);
      },
      signal,
    ),
  );
}
