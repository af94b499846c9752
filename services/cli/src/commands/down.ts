import { createClient } from "@connectrpc/connect";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { LOCAL } from "../profiles/profile-store.ts";

const LOOK_MILLISECONDS = 2_000;
/** The latest ones: a session with a run under way is among them. */
const LOOKED_AT = 200;

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
  for (const sessionId of unfinished)
    screen.note(`The run in session ${sessionId} goes on when HLVM is up again; \`hlvm session cancel ${sessionId}\` ends it.`, "warning");
  return EXIT_OK;
}

/** None where the mesh does not say in time: it is ended all the same. */
async function sessionsUnderWay(context: CommandContext): Promise<string[]> {
  try {
    return await withMesh({ ...context, config: { ...context.config, edgeUrl: "", profile: LOCAL } }, async (transport) => {
      const { sessions } = await createClient(SessionService, transport).listSessions(
        { limit: LOOKED_AT },
        { timeoutMs: LOOK_MILLISECONDS },
      );
      return sessions.filter(({ runningRunId }) => runningRunId !== "").map(({ sessionId }) => sessionId);
    });
  } catch {
    return [];
  }
}
