import { createClient } from "@connectrpc/connect";
import { RestoredPath_Action as Action, type RestoredPath } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { SessionService, UndoToTurnResponseSchema, type UndoToTurnResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { confirm } from "../terminal/confirm.ts";
import { printableLine } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";

const SHOWN = 40;
const WORDS: Readonly<Record<Action, string>> = {
  [Action.UNSPECIFIED]: "?",
  [Action.CREATE]: "comes back",
  [Action.CHANGE]: "goes back",
  [Action.DELETE]: "is deleted",
};

export interface SessionUndoFlags {
  readonly to: number;
  readonly overwrite?: boolean;
  /** Also where not all goes back. */
  readonly partial?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Goes back to an earlier turn, conversation and files, when the person has seen what that is and said yes. */
export async function sessionUndo(sessionId: string, flags: SessionUndoFlags, context: CommandContext): Promise<number> {
  const asked = { sessionId, toTurn: flags.to, overwrite: flags.overwrite };
  const done = await withMesh(context, async (transport) => {
    const sessions = createClient(SessionService, transport);
    let acceptIncomplete = flags.partial === true;
    if (flags.yes !== true) {
      const preview = await sessions.undoToTurn({ ...asked, preview: true });
      const question = preview.incomplete ? "Go back as far as that goes?" : "Go back?";
      if (!(await confirm(linesOf(preview, flags), question, context))) return undefined;
      acceptIncomplete ||= preview.incomplete;
    }
    return sessions.undoToTurn({ ...asked, acceptIncomplete });
  });
  if (flags.json === true && done !== undefined)
    process.stdout.write(jsonLine({ type: "undo", ...messageJson(UndoToTurnResponseSchema, done) }));
  else context.screen.note(done === undefined ? "Nothing was undone." : saidOf(done, flags));
  return done === undefined || failed(done).length > 0 ? EXIT_FAILED : EXIT_OK;
}

const INCOMPLETE = "What the workspace held before the first of these turns may not be kept any more: not all that they wrote goes back.";

function linesOf({ turns, paths, pathCount, incomplete }: UndoToTurnResponse, flags: SessionUndoFlags): string[] {
  const lines = turns.map(({ turn, summary }) => `turn ${turn} is undone: ${printableLine(summary, 100)}`);
  for (const one of paths.slice(0, SHOWN))
    lines.push(`${isKept(one, flags) ? "stays, others changed it" : WORDS[one.action]}: ${printableLine(one.path)}`);
  if (pathCount > SHOWN) lines.push(`… and ${pathCount - Math.min(SHOWN, paths.length)} more paths`);
  if (paths.some((one) => isKept(one, flags))) lines.push("What others changed goes back only with --overwrite.");
  if (incomplete) lines.push(INCOMPLETE);
  lines.push("git's own history, node_modules and the like stay as they are.");
  return lines;
}

function saidOf(done: UndoToTurnResponse, flags: SessionUndoFlags): string {
  const kept = done.paths.filter((one) => isKept(one, flags)).map(({ path }) => printableLine(path));
  const lines = [
    `Back at turn ${flags.to}: ${counted(done.turns.length, "turn")} undone, ${counted(done.pathCount - kept.length, "path")} went back.`,
  ];
  if (done.incomplete) lines.push(INCOMPLETE);
  if (kept.length > 0) lines.push(`Left as they are, since others changed them: ${kept.slice(0, SHOWN).join(", ")}.`);
  for (const { path, failure } of failed(done).slice(0, SHOWN))
    lines.push(`Could not go back: ${printableLine(path)}: ${printableLine(failure)}`);
  return lines.join("\n");
}

function failed({ paths }: UndoToTurnResponse): RestoredPath[] {
  return paths.filter(({ failure }) => failure !== "");
}

function isKept({ changedByOthers }: RestoredPath, { overwrite }: SessionUndoFlags): boolean {
  return changedByOthers && overwrite !== true;
}
