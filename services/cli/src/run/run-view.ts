import type { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** What somebody sees of a run. */
export interface RunView {
  /** The run was taken on: with this model, in this session. */
  started(run: { readonly sessionId: string; readonly model: string; readonly workspace: string }): void;
  event(event: Event): void;
  /** The connection is lost, for longer than a moment, and is being resumed. */
  connectionLost(): void;
  /** It ended without a `run_stopped` that reached us. */
  failed(error: HlvmError, stopReason: "error" | "user_cancelled"): void;
}
