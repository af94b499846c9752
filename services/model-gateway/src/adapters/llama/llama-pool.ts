import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ModelError } from "../../domain/model-error.ts";
import { LLAMA, type LlamaInstance } from "./llama-instance.ts";

const LONGEST_QUEUE = 256;

interface Waiting {
  readonly model: string;
  readonly take: (instance: LlamaInstance) => void;
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
  }

  /** Every instance, each asked lately. */
  async instances(): Promise<readonly LlamaInstance[]> {
    await Promise.all(this.#instances.map((instance) => instance.refresh()));
    return this.#instances;
  }

  /**
   * An instance with a slot for one request, to be released after it.
   * @throws ModelError `queue_full`, `cancelled`, or why no instance has the model
   */
  async acquire(model: string, signal: AbortSignal): Promise<LlamaInstance> {
    await this.instances();
    signal.throwIfAborted();
    if (!this.#instances.some((instance) => instance.serves(model))) throw this.#nobodyServes(model);
    const isFirst = !this.#queue.some((waiting) => waiting.model === model);
    const free = isFirst ? this.#free(model) : undefined;
    if (free === undefined) return this.#wait(model, signal);
    free.inFlight++;
    return free;
  }

  release(instance: LlamaInstance): void {
    instance.inFlight--;
    for (const waiting of [...this.#queue]) {
      const free = this.#free(waiting.model);
      if (free === undefined) continue;
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      free.inFlight++;
      waiting.take(free);
    }
  }

  #free(model: string): LlamaInstance | undefined {
    const free = this.#instances.filter((instance) => instance.serves(model) && instance.inFlight < instance.slots);
    return free.toSorted((one, other) => one.load - other.load)[0];
  }

  #wait(model: string, signal: AbortSignal): Promise<LlamaInstance> {
    if (this.#queue.length >= LONGEST_QUEUE) throw queueFull();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        model,
        take: (instance) => {
          signal.removeEventListener("abort", leave);
          resolve(instance);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.push(waiting);
    });
  }

  #nobodyServes(model: string): HlvmError {
    const failing = this.#instances.find((instance) => instance.failure !== undefined);
    if (failing?.failure instanceof ModelError) return failing.failure;
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
