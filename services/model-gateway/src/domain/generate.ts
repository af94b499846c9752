import { setTimeout as sleep } from "node:timers/promises";
import { AnswerWithHeartbeats } from "./answer-with-heartbeats.ts";
import { Attempt } from "./attempt.ts";
import { endedBy, resting, together, tooLong } from "./call-failures.ts";
import type { Generation, AnswerEvent } from "./generation.ts";
import { isHardFailure } from "./hard-failure.ts";
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
  readonly first: readonly AnswerEvent[];
  readonly attempt: Attempt;
  readonly lease: Lease;
  readonly providerName: string;
}

/**
 * One answer of a model as deltas, `usage` and `finish` last; in their pauses its caller hears that it goes on. As long as nothing of
 * an answer has come, a failure of a key is tried with the next key, one that may pass is tried again, up to three times and within
 * the caller's deadline, and after a hard one the next model is asked, where there is one. After that every failure is the caller's.
 * @throws ModelError
 */
export function generate(target: Target, generation: Generation, options: GenerateOptions): AsyncIterableIterator<AnswerEvent, void> {
  return new AnswerWithHeartbeats((heard) => new Call(target, generation, options, heard));
}

class Call {
  readonly #target: Target;
  readonly #generation: Generation;
  readonly #options: GenerateOptions;
  readonly #heard: () => void;
  readonly #deadline: number;
  readonly #limit: TimeLimit;
  #answer: BegunAnswer | undefined;
  #hasContent = false;

  constructor(target: Target, generation: Generation, options: GenerateOptions, heard: () => void) {
    this.#target = target;
    this.#generation = generation;
    this.#options = options;
    this.#heard = heard;
    const milliseconds = Math.min(options.remainingMilliseconds ?? LONGEST_CALL_MILLISECONDS, LONGEST_CALL_MILLISECONDS);
    this.#deadline = performance.now() + milliseconds;
    this.#limit = new TimeLimit(options.signal, milliseconds, () => tooLong(target.providerName, milliseconds));
  }

  /** @throws ModelError */
  next(): Promise<readonly AnswerEvent[] | undefined> {
    return this.#answer === undefined ? this.#askInTurn() : this.#answer.attempt.next().then(this.#take, this.#fail);
  }

  async close(): Promise<void> {
    this.#limit.close();
    this.#answer?.lease.close();
    await this.#answer?.attempt.close();
  }

  readonly #take = (events: readonly AnswerEvent[] | undefined): readonly AnswerEvent[] | undefined => {
    if (events === undefined) this.#answer!.lease.succeeded();
    return events;
  };

  readonly #fail = (thrown: unknown): never => {
    const { lease, providerName } = this.#answer!;
    const error = endedBy(providerName, thrown, this.#limit);
    lease.failed(error);
    throw error;
  };

  /** Asks one model after the other until something of an answer comes. */
  async #askInTurn(): Promise<readonly AnswerEvent[]> {
    const failures: ModelError[] = [];
    for (let target: Target | undefined = this.#target; target !== undefined;) {
      try {
        this.#answer = await this.#begin(target);
        return this.#answer.first;
      } catch (thrown) {
        const error = endedBy(target.providerName, thrown, this.#limit);
        failures.push(error);
        if (this.#hasContent || this.#limit.signal.aborted) throw error;
        target = isHardFailure(error) ? await this.#options.next?.(error) : undefined;
      }
    }
    throw together(failures);
  }

  async #begin(target: Target): Promise<BegunAnswer> {
    const { keys, name, providerName } = target;
    const spent = new Set<number>();
    for (let attempt = 1; ;) {
      const lease = keys.lease(name, spent);
      if ("waitMilliseconds" in lease && this.#options.next !== undefined) throw resting(target, lease.waitMilliseconds);
      const begun = "waitMilliseconds" in lease ? resting(target, lease.waitMilliseconds) : await this.#try(target, lease);
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
      await this.#waitAloud(wait).catch(() => {
        throw endedBy(providerName, begun, this.#limit);
      });
      attempt++;
    }
  }

  /** @returns why there was no answer, where none began */
  async #try(target: Target, lease: Lease): Promise<BegunAnswer | ModelError> {
    const onContent = (): void => {
      this.#hasContent = true;
      lease.answering();
    };
    let attempt: Attempt | undefined;
    try {
      // What stands before the answer of another model is not in what its server keeps.
      const answerName = target.servedBy === undefined ? this.#generation.answerName : undefined;
      const generation = { ...this.#generation, model: target.name, answerName };
      attempt = new Attempt(target, lease.provider.generate(generation, this.#limit.signal, this.#heard), onContent);
      return { first: (await attempt.next())!, attempt, lease, providerName: target.providerName };
    } catch (thrown) {
      const error = endedBy(target.providerName, thrown, this.#limit);
      lease.failed(error);
      lease.close();
      await attempt?.close();
      return error;
    }
  }

  async #waitAloud(milliseconds: number): Promise<void> {
    const heartbeats = setInterval(this.#heard, SIGN_MILLISECONDS);
    try {
      await sleep(milliseconds, undefined, { signal: this.#limit.signal });
    } finally {
      clearInterval(heartbeats);
    }
  }
}

/** Full jitter: anything between nothing and the doubled backoff; never less than the provider asks for. */
function waitBefore(attempt: number, error: ModelError): number {
  return Math.max(error.retryAfterMilliseconds, Math.random() * FIRST_BACKOFF_MILLISECONDS * 2 ** (attempt - 1));
}
