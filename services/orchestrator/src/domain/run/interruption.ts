export type InterruptionKind = "cancelled" | "timeout" | "handed_over" | "parked" | "lease_lost" | "log_unavailable";

/** Why a run is stopped from outside its loop: the reason of the signal that everything of the run listens to. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly kind: InterruptionKind;

  constructor(kind: InterruptionKind, cause?: unknown) {
    super(`The run was interrupted: ${kind}.`, { cause });
    this.kind = kind;
  }

  /** Whether the run goes on in whichever process claims it next: this one writes no end, and cancels nothing that was begun. */
  get isHandOver(): boolean {
    return this.kind === "handed_over" || this.kind === "parked" || this.kind === "lease_lost" || this.kind === "log_unavailable";
  }
}

export function isHandOver(thrown: unknown): thrown is Interruption {
  return thrown instanceof Interruption && thrown.isHandOver;
}
