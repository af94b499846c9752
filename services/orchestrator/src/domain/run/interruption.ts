export type InterruptionKind = "cancelled" | "timeout" | "shutdown" | "lease_lost" | "log_unavailable";

/** Why a run is stopped from outside its loop: the reason of the signal that everything of the run listens to. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly kind: InterruptionKind;

  constructor(kind: InterruptionKind, cause?: unknown) {
    super(`The run was interrupted: ${kind}.`, { cause });
    this.kind = kind;
  }

  /** Whether the run may still append its end; else whoever holds it next does. */
  get mayAppend(): boolean {
    return this.kind !== "lease_lost" && this.kind !== "log_unavailable";
  }
}
