import { createClient } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { printSession } from "./session-update.ts";

/** Makes a session that begins with another one's events and goes its own way: in the same folder, or in a copy of it as it was then. */
export async function sessionFork(
  sessionId: string,
  flags: { readonly at?: number; readonly files?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const session = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    return (await sessions.forkSession({ sessionId, atSequence: BigInt(flags.at ?? 0), copyFiles: flags.files })).session!;
  });
  const { forkedAtSequence, workspace } = session;
  const said = `Forked at event ${forkedAtSequence} as session ${session.sessionId}, which works in ${workspace} as it ${flags.files === true ? "was then, a copy of its own" : "is now"}. Go on with: hlvm ask --resume ${session.sessionId} "…"`;
  return printSession(session, flags, context, said);
}
