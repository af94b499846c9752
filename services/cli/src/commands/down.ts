import { createClient } from "@connectrpc/connect";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { SessionService, SessionState } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { LOCAL } from "../profiles/profile-store.ts";

const LOOK_MILLISECONDS = 2_000;
/** Thousands may wait for a person. */
const NAMED = 5;

/** Ends the mesh, whoever started it, and waits until all of it has ended. Runs under way go on when it is up again. */
export async function down(context: CommandContext): Promise<number> {
  const { config, screen } = context;
  const running = readMeshState(config.directory);
  if (running === undefined) {
    screen.note("No mesh is up.");
    return EXIT_OK;
  }
  screen.status("ending");
  const unfinished = await sessionsUnderWay(context);
  await stopMesh(running.controlSocket);
  screen.status("");
  screen.note("HLVM has ended.");
  for (const note of goOnNotes(unfinished)) screen.note(note, "warning");
  return EXIT_OK;
}

/** What becomes of the runs of these sessions. */
export function goOnNotes(sessionIds: readonly string[]): string[] {
  const notes = sessionIds
    .slice(0, NAMED)
    .map((sessionId) => `The run in session ${sessionId} goes on when HLVM is up again; \`hlvm session cancel ${sessionId}\` ends it.`);
  return sessionIds.length > NAMED ? [...notes, "So do others: `hlvm session list --state running` shows them then."] : notes;
}

/** None where the mesh does not say in time: it is ended all the same. */
async function sessionsUnderWay(context: CommandContext): Promise<string[]> {
  try {
    return await withMesh({ ...context, config: { ...context.config, edgeUrl: "", profile: LOCAL } }, async (transport) => {
      const { sessions } = await createClient(SessionService, transport).listSessions(
        { limit: NAMED + 1, state: SessionState.RUNNING },
        { timeoutMs: LOOK_MILLISECONDS },
      );
      return sessions.map(({ sessionId }) => sessionId);
    });
  } catch {
    return [];
  }
}
