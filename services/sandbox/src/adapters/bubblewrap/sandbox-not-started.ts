import { HlvmError } from "@hlvm/errors/hlvm-error";

/** The sandbox of a session could not be brought up. */
export function sandboxNotStarted(workspace: string, cause: Error): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "sandbox_not_started",
    message: `The sandbox for ${workspace} could not be started: ${cause.message}.`,
    advice: "Check that the workspace and HLVM's own folder can be read by the owner of the workspace; the sandbox's log says more.",
    cause,
  });
}
