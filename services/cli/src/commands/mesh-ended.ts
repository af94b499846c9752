import { HlvmError } from "@hlvm/errors/hlvm-error";

/** What is said of a run whose mesh went away; of a stateless one nothing is kept to go on with. */
export function meshEnded(
  { sessionId, stateless }: { readonly sessionId: string; readonly stateless: boolean },
  cause: unknown,
): HlvmError {
  const next = stateless
    ? "ask again: a stateless session cannot be gone on with."
    : `go on with \`hlvm ask --resume ${sessionId} …\`; \`hlvm session watch ${sessionId}\` shows how far it came.`;
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_ended",
    message: "The mesh ended while the run was going on.",
    advice: `Start it again with \`hlvm up\`, then ${next}`,
    cause,
  });
}
