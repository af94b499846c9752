import { messageOf } from "@hlvm/errors/message-of";
import type { ProtectedChange } from "../protected-change.ts";
import { failedResult, type ToolResult } from "../tool-event.ts";
import type { CommandRoom } from "./shell-exec.ts";

/** A person is shown all of it, or is not asked. */
const SHOWN_DIFF_CHARACTERS = 200_000;

/**
 * Runs a command that may write with the protected paths looked after: what it changed there is put back before its result
 * is told, and shown, so that a person can be asked about it.
 */
export async function guarded(callId: string, { guard, held }: CommandRoom, run: () => Promise<ToolResult>): Promise<ToolResult> {
  if (guard === undefined) return run();
  try {
    await guard.protect(callId);
  } catch (cause) {
    return failedResult("unavailable", `The command did not run: ${messageOf(cause)}. Try again.`, 0);
  }
  const result = await run();
  let changes: readonly ProtectedChange[];
  try {
    changes = await guard.restore(callId, false);
  } catch (cause) {
    const note = `It is not known whether the command changed files that programs outside of the sandbox obey: ${messageOf(cause)}. Have a person look at .git/config, .git/hooks and the editor's settings.`;
    return { ...result, success: false, content: `${result.content}\n[${note}]`, summary: note, errorCode: "unavailable" };
  }
  if (changes.length === 0) return result;
  const heldChange = held.hold(changes);
  const isShort = heldChange.diff.length <= SHOWN_DIFF_CHARACTERS;
  const diff = isShort ? heldChange.diff : `${heldChange.paths.join("\n")}\nThat is too much to be asked about; change less at a time.`;
  const note = `[The command changed what programs outside of the sandbox obey. It was put back:\n${diff}]`;
  return {
    ...result,
    success: false,
    content: `${result.content}\n${note}`,
    summary: `put back: ${heldChange.paths.join(", ")}`,
    errorCode: "protected_path",
    ...(isShort ? { heldChange } : {}),
  };
}
