import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import { attemptOnce } from "./attempt-once.ts";
import type { Generation, Told } from "./generation.ts";
import { isHardFailure } from "./hard-failure.ts";
import { Heartbeats } from "./heartbeats.ts";
import { isOfKey, type Lease } from "./key-ring.ts";
import { ModelError } from "./model-error.ts";
import type { NextTarget, Target } from "./target.ts";
import { TimeLimit } from "./time-limit.ts";

const MAXIMUM_ATTEMPTS = 3;
const FIRST_BACKOFF_MILLISECONDS = 500;
/** A provider that asks for a longer wait than this is told to the caller at once. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
/** 300 s proved too short in the field. */
const LONGEST_CALL_MILLISECONDS = 900_000;
const SIGN_MILLISECONDS = 1_000;

export interface Retry {
  /** `provider/name`. */
  readonly model: string;
  readonly attempt: number;
  readonly waitMilliseconds: number;
  readonly error: ModelError;
  /** The end of the key that was used, where there are keys. */
  readonly keyEnding: string;
}

export interface GenerateOptions {
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** What the caller's deadline leaves; undefined where it set none. */
  readonly remainingMilliseconds: number | undefined;
  readonly onRetry: (retry: Retry) => void;
  /** Left out: no other model may answer. */
  readonly next?: NextTarget;
}

/** An answer of which something has come. */
interface BegunAnswer {
  readonly first: IteratorResult<Told, void>;
  readonly coming: AsyncGenerator<Told, void>;
  readonly lease: Lease;
}

/**
 * One answer of a model as deltas, `usage` and `finish` last; in their pauses its caller hears that it goes on. As long as nothing of
 * an answer has come, a failure of a key is tried with the next key, one that may pass is tried again, up to three times and within
 * the caller's deadline, and after a hard one the next model is asked, where there is one. After that every failure is the caller's.
 * @throws ModelError
 */
export function generate(target: Target, generation: Generation, options: GenerateOptions): AsyncGenerator<Told, void> {
  const heartbeats = new Heartbeats();
  return heartbeats.among(new Call(generation, options, heartbeats.heard).along(target));
}

class Call {
  readonly #generation: Generation;
  readonly #options: GenerateOptions;
  readonly #heard: () => void;
  readonly #milliseconds: number;
  readonly #deadline: number;
  #hasContent = false;

  constructor(generation: Generation, options: GenerateOptions, heard: () => void) {
    this.#generation = generation;
    this.#options = options;
    this.#heard = heard;
    this.#milliseconds = Math.min(options.remainingMilliseconds ?? LONGEST_CALL_MILLISECONDS, LONGEST_CALL_MILLISECONDS);
    this.#deadline = performance.now() + this.#milliseconds;
  }

  async *along(first: Target): AsyncGenerator<Told, void> {
    const limit = new TimeLimit(this.#options.signal, this.#milliseconds, () => tooLong(first.providerName, this.#milliseconds));
    const failures: ModelError[] = [];
    try {
      for (let target: Target | undefined = first; target !== undefined;) {
        let begun: BegunAnswer | undefined;
        try {
          begun = await this.#begin(target, limit);
          for (let come = begun.first; come.done !== true; come = await begun.coming.next()) yield come.value;
          begun.lease.succeeded();
          return;
        } catch (thrown) {
          const error = endedBy(target.providerName, thrown, limit);
          begun?.lease.failed(error);
          failures.push(error);
          if (this.#hasContent || limit.signal.aborted) throw error;
          target = isHardFailure(error) ? await this.#options.next?.(error) : undefined;
        } finally {
          begun?.lease.close();
          await begun?.coming.return();
        }
      }
    } finally {
      limit.close();
    }
    throw together(failures);
  }

  /** Asks until something of an answer comes. */
  async #begin(target: Target, limit: TimeLimit): Promise<BegunAnswer> {
    const { keys, name, providerName } = target;
    const spent = new Set<number>();
    for (let attempt = 1; ;) {
      const lease = keys.lease(name, spent);
      if ("waitMilliseconds" in lease && this.#options.next !== undefined) throw resting(target, lease.waitMilliseconds);
      const begun = "waitMilliseconds" in lease ? resting(target, lease.waitMilliseconds) : await this.#try(target, lease, limit);
      if (!(begun instanceof ModelError)) return begun;
      const retry = { model: `${providerName}/${name}`, attempt, error: begun, keyEnding: "ending" in lease ? lease.ending : "" };
      if ("index" in lease && isOfKey(begun)) {
        spent.add(lease.index);
        if (keys.hasOther(spent)) {
          this.#options.onRetry({ ...retry, waitMilliseconds: 0 });
          continue;
        }
        spent.clear();
      }
      const wait = waitBefore(attempt, begun);
      if (!begun.isRetried || attempt === MAXIMUM_ATTEMPTS) throw begun;
      if (wait > LONGEST_WAIT_MILLISECONDS || performance.now() + wait >= this.#deadline) throw begun;
      this.#options.onRetry({ ...retry, waitMilliseconds: wait });
      await this.#waitAloud(wait, limit.signal).catch(() => {
        throw endedBy(providerName, begun, limit);
      });
      attempt++;
    }
  }

  /** @returns why there was no answer, where none began */
  async #try(target: Target, lease: Lease, limit: TimeLimit): Promise<BegunAnswer | ModelError> {
    const onContent = (): void => {
      this.#hasContent = true;
      lease.answering();
    };
    try {
      // What stands before the answer of another model is not in what its server keeps.
      const answerName = target.servedBy === undefined ? this.#generation.answerName : undefined;
      const deltas = lease.provider.generate({ ...this.#generation, model: target.name, answerName }, limit.signal, this.#heard);
      const coming = attemptOnce({ target, deltas, onContent });
      return { first: await coming.next(), coming, lease };
    } catch (thrown) {
      const error = endedBy(target.providerName, thrown, limit);
      lease.failed(error);
      lease.close();
      return error;
    }
  }

  async #waitAloud(milliseconds: number, signal: AbortSignal): Promise<void> {
    const heartbeats = setInterval(this.#heard, SIGN_MILLISECONDS);
    try {
      await sleep(milliseconds, undefined, { signal });
    } finally {
      clearInterval(heartbeats);
    }
  }
}

/** Full jitter: anything between nothing and the doubled backoff; never less than the provider asks for. */
function waitBefore(attempt: number, error: ModelError): number {
  return Math.max(error.retryAfterMilliseconds, Math.random() * FIRST_BACKOFF_MILLISECONDS * 2 ** (attempt - 1));
}

function endedBy(provider: string, thrown: unknown, { caller, exceeded }: TimeLimit): ModelError {
  if (caller.aborted)
    return new ModelError({ class: "abort", reason: "cancelled", message: "The call was cancelled.", advice: "", provider, cause: thrown });
  if (exceeded !== undefined) return exceeded;
  if (thrown instanceof ModelError) return thrown;
  return new ModelError({
    class: "unknown",
    reason: "model_failed",
    message: `The answer of ${provider} could not be read: ${messageOf(thrown)}.`,
    advice: "Try again; if it stays, take another model with --model and report this one.",
    provider,
    cause: thrown,
  });
}

function tooLong(provider: string, limit: number): ModelError {
  return new ModelError({
    class: "timeout",
    reason: "model_too_slow",
    message: `${provider} did not finish its answer within ${Math.round(limit / 1000)} s.`,
    advice: "Ask for less at once, or take a faster model with --model.",
    provider,
  });
}

function resting({ providerName, name }: Target, retryAfterMilliseconds: number): ModelError {
  return new ModelError({
    class: "transient",
    reason: "circuit_open",
    message: `${providerName}/${name} has failed again and again, and is not asked for ${Math.ceil(retryAfterMilliseconds / 1000)} s.`,
    advice: "Ask again in a little while, or take another model with --model.",
    provider: providerName,
    retryAfterMilliseconds,
  });
}

/** The failure of the model that was asked, and what the others of its route said. */
function together([first, ...others]: readonly ModelError[]): ModelError {
  if (first === undefined || others.length === 0) return first!;
  return new ModelError({
    class: first.class,
    code: first.code,
    reason: first.reason,
    message: `${first.message} Nor did another model of its route answer: ${others.map(({ message }) => message).join(" ")}`,
    advice: first.advice,
    provider: first.provider,
    providerCode: first.providerCode,
    retryAfterMilliseconds: first.retryAfterMilliseconds,
    cause: others.at(-1),
  });
}
