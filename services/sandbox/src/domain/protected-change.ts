import type { ProtectedEntry_Kind } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";

/** What stood, or stands, at a protected path, as the runner keeps it. */
export interface ProtectedEntry {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: ProtectedEntry_Kind;
  readonly mode: number;
  readonly content?: Uint8Array;
}

/** A change of a protected path that a command made, and that was put back. */
export interface ProtectedChange {
  readonly before: ProtectedEntry;
  readonly after: ProtectedEntry;
  /** For people. */
  readonly diff: string;
  /** False where what was there before could not be put back. */
  readonly restored: boolean;
}
