import { answerTooLong } from "../domain/answer-length.ts";
import { ModelError } from "../domain/model-error.ts";
import { TimeLimit } from "../domain/time-limit.ts";
import { fieldsOf } from "./fields-of.ts";
import { readFailure } from "./read-failure.ts";

/** Pings count: a provider that thinks for long keeps sending them. */
const SILENCE_MILLISECONDS = 120_000;

/** Of one line of a stream, and of all of an answer: beyond what any model says, so that no peer fills the memory. */
const LONGEST_LINE_BYTES = 12 * 1024 * 1024;
const LONGEST_ANSWER_BYTES = 128 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** One exchange with a provider over HTTP. It ends with its caller, when no byte has come for 120 s, or with a piece too many. */
export class Exchange {
  readonly #provider: string;
  readonly #onHeard: () => void;
  readonly #silence: TimeLimit;
  #bytes = 0;
  #lineBytes = 0;
  #tooLong: ModelError | undefined;

  /** @param onHeard called for every piece that arrives */
  constructor(provider: string, caller: AbortSignal, onHeard: () => void, silenceMilliseconds = SILENCE_MILLISECONDS) {
    this.#provider = provider;
    this.#onHeard = onHeard;
    this.#silence = new TimeLimit(caller, silenceMilliseconds, () => silent(provider, silenceMilliseconds));
  }

  /** Aborted when the exchange has to end. */
  get signal(): AbortSignal {
    return this.#silence.signal;
  }

  /** Calls `end` when the exchange has to end, at once where it has to already. @returns has it not be called any more */
  onEnd(end: (reason: unknown) => void): () => void {
    return this.#silence.onEnd(end);
  }

  /** To be told of every piece that arrives: the silence starts anew. @throws ModelError `answer_too_long` */
  heard(piece: Uint8Array = new Uint8Array()): void {
    this.#silence.renew();
    this.#onHeard();
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    this.#bytes += piece.length;
    this.#lineBytes = (end > 0 ? 0 : this.#lineBytes) + piece.length - end;
    if (this.#lineBytes > LONGEST_LINE_BYTES || this.#bytes > LONGEST_ANSWER_BYTES) throw (this.#tooLong = answerTooLong(this.#provider));
  }

  /** Throws what ended the exchange, if anything did: the SDKs end an aborted stream as if it were complete. */
  throwIfEnded(): void {
    if (this.#tooLong !== undefined) throw this.#tooLong;
    const { exceeded, caller } = this.#silence;
    if (exceeded !== undefined) throw exceeded;
    if (caller.aborted) throw this.#aborted(caller.reason);
  }

  /** What a thrown error means, taking into account that the exchange may have been ended from this side. */
  failure(thrown: unknown): ModelError {
    if (this.#tooLong !== undefined) return this.#tooLong;
    const { exceeded, caller } = this.#silence;
    if (exceeded !== undefined) return exceeded;
    if (caller.aborted) return this.#aborted(thrown);
    return readThrown(this.#provider, thrown);
  }

  close(): void {
    this.#silence.close();
  }

  #aborted(cause: unknown): ModelError {
    const reason: unknown = this.#silence.caller.reason;
    if (reason instanceof ModelError) return reason;
    const isDeadline = reason instanceof DOMException && reason.name === "TimeoutError";
    return new ModelError({
      class: isDeadline ? "timeout" : "abort",
      reason: isDeadline ? "provider_timeout" : "cancelled",
      message: isDeadline ? `${this.#provider} did not answer in time.` : "The call was cancelled.",
      advice: isDeadline ? "Check that it runs and can be reached." : "",
      provider: this.#provider,
      cause,
    });
  }
}

function silent(provider: string, milliseconds: number): ModelError {
  return new ModelError({
    class: "timeout",
    reason: "model_silent",
    message: `${provider} sent nothing for ${Math.round(milliseconds / 1000)} s.`,
    advice: "Ask again; if it stays, look at the provider's status page or take another model with --model.",
    provider,
  });
}

/** What was thrown while a provider was spoken to, as the error that the domain knows. Both SDKs keep status, headers and the body's error. */
function readThrown(provider: string, thrown: unknown): ModelError {
  const error = fieldsOf(thrown);
  return readFailure(provider, {
    status: typeof error.status === "number" ? error.status : undefined,
    headers: error.headers instanceof Headers ? error.headers : undefined,
    body: error.error,
    cause: thrown,
  });
}
