import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { runLine } from "@hlvm/ndjson/run-line";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { jsonLine } from "../output/json-line.ts";
import { failureLine } from "./failure-line.ts";
import type { RunView } from "./run-view.ts";

/** One JSON object when the run has ended: the `final` and the model that answered. */
export class JsonView implements RunView {
  readonly #write: (line: string) => void;
  #sessionId = "";
  #model = "";
  #ended = false;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  started(run: { readonly sessionId: string; readonly model: string }): void {
    this.#sessionId = run.sessionId;
    this.#model = run.model;
  }

  event(event: Event): void {
    const line = runLine(event);
    if (line?.type === "final") this.#end(line);
  }

  /** Nothing that a program waits for: its object comes when the run has ended. */
  connectionLost(): void {}

  failed(error: HlvmError, stopReason: "error" | "user_cancelled"): void {
    if (!this.#ended) this.#end(failureLine(error, this.#sessionId, stopReason));
  }

  #end(line: object): void {
    this.#ended = true;
    this.#write(jsonLine({ ...line, model: this.#model }));
  }
}
