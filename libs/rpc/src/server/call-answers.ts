import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EndSchema } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { UNREAD_LIMIT, weightOf } from "../wire/unread-limit.ts";

export type SendAnswers = (answers: Uint8Array[], end?: MessageInitShape<typeof EndSchema>) => void;

/**
 * The answers of one call on their way to its caller. What is given without a pause goes out in one piece, the call's end
 * included: each piece wakes the caller, which costs both sides more than what it says.
 */
export class CallAnswers {
  readonly #send: SendAnswers;
  #waiting: Uint8Array[] = [];
  #unread = 0;
  #hasEnded = false;
  #isWanted = true;
  #wake: (() => void) | undefined;

  constructor(send: SendAnswers) {
    this.#send = send;
  }

  add(answer: Uint8Array): void {
    if (!this.#isWanted) return;
    if (this.#waiting.length === 0) process.nextTick(() => this.#flush());
    this.#waiting.push(answer);
    this.#unread += weightOf(answer);
  }

  /** Waits while too much is unread. @throws the signal's reason */
  async room(signal: AbortSignal): Promise<void> {
    if (this.#unread < UNREAD_LIMIT) return signal.throwIfAborted();
    const wake = (): void => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    while (this.#unread >= UNREAD_LIMIT && !signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    signal.removeEventListener("abort", wake);
    signal.throwIfAborted();
  }

  wasRead(weight: number): void {
    this.#unread = Math.max(0, this.#unread - weight);
    this.#wake?.();
  }

  /** The caller wants none of those that it was not sent yet. */
  drop(): void {
    this.#isWanted = false;
    this.#waiting = [];
  }

  end(end: MessageInitShape<typeof EndSchema>): void {
    this.#hasEnded = true;
    this.#send(this.#waiting, end);
  }

  #flush(): void {
    if (this.#hasEnded || this.#waiting.length === 0) return;
    this.#send(this.#waiting);
    this.#waiting = [];
  }
}
