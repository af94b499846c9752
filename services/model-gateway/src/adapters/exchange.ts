import { ModelError } from "../domain/model-error.ts";
import { readThrown } from "./read-failure.ts";
import { isEventStream, readRefusal } from "./read-refusal.ts";

/** Pings count: a provider that thinks for long keeps sending them. */
const SILENCE_MILLISECONDS = 120_000;

/** One exchange with a provider over HTTP. It ends with its caller, or when no byte has come for 120 s. */
export class Exchange {
  readonly #provider: string;
  readonly #silent = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal;

  constructor(provider: string, caller: AbortSignal, silenceMilliseconds = SILENCE_MILLISECONDS) {
    this.#provider = provider;
    this.#caller = caller;
    this.#signal = AbortSignal.any([caller, this.#silent.signal]);
    this.#timer = setTimeout(() => this.#silent.abort(silence(provider, silenceMilliseconds)), silenceMilliseconds);
  }

  /** Aborted when the exchange has to end. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** `fetch`, watched: every piece that arrives starts the silence anew. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const signal = init?.signal ? AbortSignal.any([init.signal, this.#signal]) : this.#signal;
    const response = await fetch(input, { ...init, signal });
    this.#timer.refresh();
    if (response.body === null) return response;
    const watched = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          this.#timer.refresh();
          controller.enqueue(piece);
        },
      }),
    );
    return new Response(watched, { status: response.status, statusText: response.statusText, headers: response.headers });
  };

  /** The same for an SDK, which takes any answer that is no error for a stream. */
  readonly fetchStream = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await this.fetch(input, init);
    if (response.ok && !isEventStream(response)) throw await readRefusal(this.#provider, response);
    return response;
  };

  /** Throws what ended the exchange, if anything did: the SDKs end an aborted stream as if it were complete. */
  throwIfEnded(): void {
    if (this.#silent.signal.aborted) throw this.#silent.signal.reason;
    if (this.#caller.aborted) throw this.#aborted(this.#caller.reason);
  }

  /** What a thrown error means, taking into account that the exchange may have been ended from this side. */
  failure(thrown: unknown): ModelError {
    if (this.#silent.signal.aborted) return this.#silent.signal.reason as ModelError;
    if (this.#caller.aborted) return this.#aborted(thrown);
    return readThrown(this.#provider, thrown);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #aborted(cause: unknown): ModelError {
    if (this.#caller.reason instanceof ModelError) return this.#caller.reason;
    const isDeadline = this.#caller.reason instanceof DOMException && this.#caller.reason.name === "TimeoutError";
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

function silence(provider: string, milliseconds: number): ModelError {
  return new ModelError({
    class: "timeout",
    reason: "model_silent",
    message: `${provider} sent nothing for ${Math.round(milliseconds / 1000)} s.`,
    advice: "Ask again; if it stays, look at the provider's status page or take another model with --model.",
    provider,
  });
}
