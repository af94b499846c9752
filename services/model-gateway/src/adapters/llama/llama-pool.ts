import { gauge } from "@hlvm/telemetry/instrument";
import { ModelError } from "../../domain/model-error.ts";
import { LLAMA, type LlamaInstance } from "./llama-instance.ts";

const LONGEST_QUEUE = 256;
const SIGN_MILLISECONDS = 1_000;

interface Waiting {
  readonly model: string;
  readonly take: (instance: LlamaInstance) => void;
  readonly giveUp: (why: Error) => void;
}

/**
 * Gives every request an instance with a free slot, the least loaded first, and lets the others wait here in order:
 * llama-server's own queue knows no fairness, so it never gets more than its slots.
 */
export class LlamaPool {
  readonly #instances: readonly LlamaInstance[];
  readonly #queue: Waiting[] = [];

  constructor(instances: readonly LlamaInstance[]) {
    this.#instances = instances;
    gauge("hlvm.model.queued", "Requests that wait for a slot of a llama-server.", "{request}", (result) =>
      result.observe(this.#queue.length),
    );
    gauge("hlvm.model.slots", "Slots of the llama-servers, in use and free.", "{slot}", (result) => {
      const used = this.#instances.reduce((sum, { inFlight }) => sum + inFlight, 0);
      result.observe(used, { state: "used" });
      result.observe(this.#instances.reduce((sum, { slots }) => sum + slots, 0) - used, { state: "free" });
    });
  }

  /** Every instance, each asked lately. */
  async instances(): Promise<readonly LlamaInstance[]> {
    await this.#refresh(() => this.#instances.some(({ failure }) => failure === undefined));
    return this.#instances;
  }

  /**
   * An instance with a slot for one request, to be released after it.
   * @param heard called now and then while the request waits for one
   * @throws ModelError `queue_full`, or why no instance has the model; the signal's reason where it is aborted
   */
  async acquire(model: string, signal: AbortSignal, heard: () => void): Promise<LlamaInstance> {
    await this.#refresh(() => this.#isServed(model));
    signal.throwIfAborted();
    if (!this.#isServed(model)) throw this.#nobodyServes(model);
    const isFirst = !this.#queue.some((waiting) => waiting.model === model);
    const free = isFirst ? this.#free(model) : undefined;
    if (free === undefined) return this.#wait(model, signal, heard);
    free.inFlight++;
    return free;
  }

  release(instance: LlamaInstance): void {
    instance.inFlight--;
    this.#serveQueue();
  }

  /** Asks whoever was not asked lately. One that failed last time is waited for only where the others are not enough. */
  async #refresh(isEnough: () => boolean): Promise<void> {
    const retried = this.#ask((instance) => instance.failure !== undefined);
    await this.#ask((instance) => instance.failure === undefined);
    if (!isEnough()) await retried;
  }

  async #ask(isMeant: (instance: LlamaInstance) => boolean): Promise<void> {
    const asking = this.#instances.filter(isMeant).flatMap((instance) => instance.refresh() ?? []);
    await Promise.all(asking.map((answered) => answered.then(() => this.#serveQueue())));
  }

  #serveQueue(): void {
    for (const waiting of this.#queue.slice()) {
      const free = this.#free(waiting.model);
      if (free !== undefined) {
        free.inFlight++;
        waiting.take(free);
      } else if (!this.#isServed(waiting.model)) waiting.giveUp(this.#nobodyServes(waiting.model));
    }
  }

  #isServed(model: string): boolean {
    return this.#instances.some((instance) => instance.serves(model));
  }

  #free(model: string): LlamaInstance | undefined {
    const free = this.#instances.filter((instance) => instance.serves(model) && instance.inFlight < instance.slots);
    return free.toSorted((one, other) => one.load - other.load)[0];
  }

  #wait(model: string, signal: AbortSignal, heard: () => void): Promise<LlamaInstance> {
    if (this.#queue.length >= LONGEST_QUEUE) throw queueFull();
    const turn = Promise.withResolvers<LlamaInstance>();
    const signs = setInterval(() => {
      heard();
      void this.#ask((instance) => instance.failure !== undefined);
    }, SIGN_MILLISECONDS);
    const leave = (): void => {
      clearInterval(signs);
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      signal.removeEventListener("abort", abort);
    };
    const abort = (): void => waiting.giveUp(signal.reason as Error);
    const waiting: Waiting = {
      model,
      take: (instance) => {
        leave();
        turn.resolve(instance);
      },
      giveUp: (why) => {
        leave();
        turn.reject(why);
      },
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#queue.push(waiting);
    return turn.promise;
  }

  #nobodyServes(model: string): ModelError {
    const failing = this.#instances.find((instance) => instance.failure !== undefined);
    if (failing?.failure !== undefined) return failing.failure;
    const names = [...new Set(this.#instances.flatMap((instance) => instance.models.map(({ name }) => `${LLAMA}/${name}`)))];
    return new ModelError({
      class: "permanent",
      code: "not_found",
      reason: "model_not_found",
      message: `No llama-server serves ${LLAMA}/${model}.`,
      advice: `They serve: ${names.join(", ") || "no model"}.`,
      provider: LLAMA,
    });
  }
}

function queueFull(): ModelError {
  return new ModelError({
    class: "rate_limit",
    reason: "queue_full",
    message: `${LONGEST_QUEUE} requests wait for a llama-server already.`,
    advice: "Ask again later, or give HLVM_LLAMA_URLS more servers.",
    provider: LLAMA,
  });
}
