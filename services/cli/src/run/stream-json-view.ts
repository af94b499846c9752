import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { runLine } from "@hlvm/ndjson/run-line";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { jsonLine } from "../output/json-line.ts";
import { failureLine } from "./failure-line.ts";
import type { RunView } from "./run-view.ts";

/** NDJSON: a line an event as it comes, and last of all, whatever happened, one `final`. */
export class StreamJsonView implements RunView {
  readonly #write: (line: string) => void;
  #sessionId = "";
  #ended = false;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  started(run: { readonly sessionId: string }): void {
    this.#sessionId = run.sessionId;
  }

  event(event: Event): void {
    const line = runLine(event);
    if (line === undefined) return;
    this.#ended = line.type === "final";
    this.#write(jsonLine(line));
  }

  /** Nothing that a program has to know: the lines go on where they were. */
  connectionLost(): void {}

  failed(error: HlvmError, stopReason: "error" | "user_cancelled"): void {
    if (!this.#ended) this.#write(jsonLine(failureLine(error, this.#sessionId, stopReason)));
    this.#ended = true;
  }
}
