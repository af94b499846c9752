import { CircuitBreaker, type Permit } from "./circuit-breaker.ts";
import type { ModelError } from "./model-error.ts";
import type { Provider } from "./provider.ts";

const REFUSED_REST_MILLISECONDS = 600_000;
const LIMITED_REST_MILLISECONDS = 30_000;
/** Names of models are the callers': whoever makes them up does not fill the memory. */
const MOST_MODELS = 1_000;

/** What another key may have an answer to: 401, 402, 403, 429. */
const OF_THE_KEY = new Set(["key_refused", "quota_spent"]);
const OF_KEY_AND_MODEL = new Set(["not_permitted", "rate_limited"]);
/** What the model wrote, not how its server is. */
const OF_THE_OUTPUT = new Set(["empty_answer", "model_output_unparsable"]);
const UNPARSABLE_OUTPUT = /failed to parse input/i;
const SILENCE = new Set(["model_silent", "provider_timeout"]);

/** A provider, called with one of its keys. */
export interface KeyedProvider {
  /** The key's last characters, for logs; empty where there is no key, or too short a one. */
  readonly ending: string;
  readonly provider: Provider;
}

/** One call with one key. It has to be closed. */
export interface Lease {
  readonly index: number;
  readonly ending: string;
  readonly provider: Provider;
  readonly answering: () => void;
  readonly succeeded: () => void;
  readonly failed: (error: ModelError) => void;
  readonly close: () => void;
}

/** No key may be used now: calls with each have failed. */
export interface Resting {
  readonly waitMilliseconds: number;
}

/**
 * The keys of one provider, the first of which is used as long as it is good: a provider's cache of prompts may be its key's. A key
 * that is refused rests: for ten minutes, or as long as a rate limit says. Each key has a circuit breaker for every model.
 */
export class KeyRing {
  readonly #keys: readonly KeyedProvider[];
  readonly #now: () => number;
  readonly #restingUntil = new Map<string, number>();
  readonly #breakers = new Map<string, CircuitBreaker>();

  /** @param now milliseconds */
  constructor(keys: readonly KeyedProvider[], now: () => number = Date.now) {
    this.#keys = keys;
    this.#now = now;
  }

  /** With the key that a call would take now. */
  provider(model: string): Provider {
    return this.#keys[this.#inOrder(model, new Set())[0]!]!.provider;
  }

  hasOther(spent: ReadonlySet<number>): boolean {
    return spent.size < this.#keys.length;
  }

  /**
   * Keys that rest come last, since a call that has no other may as well try.
   * @param spent those that this call has tried
   */
  lease(model: string, spent: ReadonlySet<number>): Lease | Resting {
    const waits: number[] = [];
    for (const index of this.#inOrder(model, spent)) {
      const breaker = this.#breaker(model, index);
      const permit = breaker.permit();
      if (permit !== undefined) return this.#lease(model, index, permit);
      waits.push(breaker.waitMilliseconds);
    }
    return { waitMilliseconds: Math.min(...waits) };
  }

  #lease(model: string, index: number, permit: Permit): Lease {
    return {
      ...this.#keys[index]!,
      index,
      answering: permit.answering,
      succeeded: permit.succeeded,
      failed: (error) => {
        if (isOfProvider(error)) permit.failed();
        else permit.withdrawn();
        this.#rest(model, index, error);
      },
      close: permit.withdrawn,
    };
  }

  #rest(model: string, index: number, error: ModelError): void {
    const isLimit = error.class === "rate_limit";
    const milliseconds = isLimit ? Math.max(error.retryAfterMilliseconds, LIMITED_REST_MILLISECONDS) : REFUSED_REST_MILLISECONDS;
    const until = this.#now() + Math.min(milliseconds, REFUSED_REST_MILLISECONDS);
    if (OF_THE_KEY.has(error.reason)) remember(this.#restingUntil, String(index), until);
    if (OF_KEY_AND_MODEL.has(error.reason)) remember(this.#restingUntil, `${index} ${model}`, until);
  }

  #inOrder(model: string, spent: ReadonlySet<number>): number[] {
    const rests = (index: number): number =>
      Math.max(this.#now(), this.#restingUntil.get(String(index)) ?? 0, this.#restingUntil.get(`${index} ${model}`) ?? 0);
    return [...this.#keys.keys()].filter((index) => !spent.has(index)).toSorted((one, other) => rests(one) - rests(other));
  }

  #breaker(model: string, index: number): CircuitBreaker {
    const name = `${index} ${model}`;
    const breaker = this.#breakers.get(name) ?? new CircuitBreaker(this.#now);
    remember(this.#breakers, name, breaker);
    return breaker;
  }
}

/** Whether another key may be answered. */
export function isOfKey({ reason }: ModelError): boolean {
  return OF_THE_KEY.has(reason) || OF_KEY_AND_MODEL.has(reason);
}

function isOfProvider({ class: kind, reason, message }: ModelError): boolean {
  if (kind === "timeout") return SILENCE.has(reason);
  return kind === "transient" && !OF_THE_OUTPUT.has(reason) && !UNPARSABLE_OUTPUT.test(message);
}

function remember<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name);
  if (map.size >= MOST_MODELS) map.delete(map.keys().next().value!);
  map.set(name, value);
}
