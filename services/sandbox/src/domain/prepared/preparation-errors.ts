import { HlvmError } from "@hlvm/errors/hlvm-error";

function failed(reason: string, message: string, advice: string, cause?: unknown): HlvmError {
  return new HlvmError({ code: "failed_precondition", reason, message, advice, cause });
}

export const tooSlow = (cause: unknown): HlvmError =>
  failed("clone_too_slow", "The repository could not be cloned within 10 minutes.", "Clone it on your machine and use --upload.", cause);

export const uploadDiffers = (): HlvmError =>
  failed("upload_differs", "What is sent is not what this upload began with.", "Ask again, which sends the folder as it is now.");

export const incomplete = (): HlvmError =>
  failed("upload_incomplete", "Not all of the workspace has come.", "Begin the upload again, which tells where to go on.");

export const damaged = (): HlvmError =>
  failed(
    "upload_damaged",
    "What came is not what was sent: its hash is another.",
    "Ask again; check the network where that repeats itself.",
  );

/** A reason of a folder's: it may be on the machine of another replica. */
export const notBeingSent = (sessionId: string): HlvmError =>
  new HlvmError({
    code: "not_found",
    reason: "workspace_not_found",
    message: `Nothing is being sent for the session ${sessionId}.`,
    advice: "Ask again, which begins anew.",
  });

export const notPrepared = (sessionId: string): HlvmError =>
  new HlvmError({
    code: "not_found",
    reason: "workspace_not_found",
    message: `The session ${sessionId} has no workspace of its own here: it works on a folder where HLVM runs, or was not used for long.`,
    advice: "What a session does in a folder is in that folder already. `hlvm session show` tells which one it is.",
  });
