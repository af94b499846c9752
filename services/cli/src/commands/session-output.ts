import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { printable } from "../terminal/printable.ts";

const PIECE_CHARACTERS = 1024 * 1024;

/** All that a call came to, which views show in part. On a terminal with nothing in it that a terminal acts on. */
export async function sessionOutput(
  sessionId: string,
  callId: string,
  flags: { json?: boolean },
  context: CommandContext,
): Promise<number> {
  const text = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    let read = "";
    for (;;) {
      const piece = await sessions.readOutput({ sessionId, callId, offset: read.length, limit: PIECE_CHARACTERS });
      read += piece.text;
      if (read.length >= piece.total || piece.text === "") return read;
    }
  });
  if (flags.json === true) process.stdout.write(jsonLine({ type: "output", session_id: sessionId, call_id: callId, text }));
  else process.stdout.write(process.stdout.isTTY ? printable(text) : text);
  return EXIT_OK;
}
