import type { InstructionsItem } from "@hlvm/conversation/item";
import { InstructionState as State, type Instruction } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Piece, Tone } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";

/** What a person is told of instructions: which the model has, which it has not, why, and how to trust them. */
export function instructionNotes({ files, workspace, notice }: InstructionsItem, sessionId: string): Piece[] {
  const notes: Piece[] = [];
  const say = (text: string, tone: Tone): void => void notes.push({ text, tone });
  const named = (state: State): string =>
    files
      .filter((file) => file.state === state)
      .map(({ path }) => printableLine(path))
      .join(", ");
  const [loaded, untrusted, changed, removed] = [State.LOADED, State.UNTRUSTED, State.CHANGED, State.REMOVED].map(named);
  const command = commandFor(workspace, sessionId);
  if (loaded !== "") say(`instructions: ${loaded}`, "dim");
  if (untrusted !== "")
    say(`instructions: ${untrusted} not followed, since you have not trusted them. To see and trust them: ${command}`, "warning");
  if (changed !== "")
    say(`instructions: ${changed} not followed, since they changed after you trusted them. To see what changed: ${command}`, "warning");
  if (removed !== "") say(`instructions: ${removed} no longer followed`, "dim");
  for (const file of files.filter(({ state }) => state === State.REFUSED)) say(refused(file), "warning");
  if (notice !== "") say(printableLine(notice, 300), "warning");
  return notes;
}

function refused({ path, reason }: Instruction): string {
  return `instructions: ${printableLine(path)} not followed: ${printableLine(reason)}`;
}

/** A clone and a copy have no folder of the person's; their session names them. */
function commandFor(workspace: string, sessionId: string): string {
  if (!workspace.startsWith("/")) return `hlvm trust add --session ${sessionId}`;
  const path = printableLine(workspace, Infinity);
  return `hlvm trust add ${/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`;
}
