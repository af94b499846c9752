import { createClient } from "@connectrpc/connect";
import { SessionSchema, SessionService, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printableLine } from "../terminal/printable.ts";

interface JsonFlag {
  readonly json?: boolean;
}

/** Gives a session another title. */
export async function sessionRename(sessionId: string, title: string, flags: JsonFlag, context: CommandContext): Promise<number> {
  const session = await update(context, { sessionId, title });
  return printSession(session, flags, context, `It is called "${printableLine(session.title)}" now.`);
}

/** Puts a session out of the way, or takes it back. */
export async function sessionArchive(sessionId: string, archived: boolean, flags: JsonFlag, context: CommandContext): Promise<number> {
  const session = await update(context, { sessionId, archived });
  const said = archived ? "Archived: `hlvm session list --archived` shows it, and --resume takes it back." : "It is listed again.";
  return printSession(session, flags, context, said);
}

function update(
  context: CommandContext,
  changes: { readonly sessionId: string; readonly title?: string; readonly archived?: boolean },
): Promise<Session> {
  return withMesh(context, async (transport) => (await createClient(SessionService, transport).updateSession(changes)).session!);
}

/** Tells of a session that was made or changed: as JSON for programs, in words for people. */
export function printSession(session: Session, { json }: JsonFlag, { screen }: CommandContext, said: string): number {
  if (json === true) process.stdout.write(jsonLine(messageJson(SessionSchema, session)));
  else screen.note(said);
  return EXIT_OK;
}
