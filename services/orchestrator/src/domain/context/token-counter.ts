import { counter } from "@hlvm/telemetry/instrument";
import type { RunContext } from "../loop/run-context.ts";
import type { AssembledContext } from "./assemble-context.ts";

/** How far an estimate of what no provider has counted may be off, either way: dense text is twice what it is taken for. */
const DOUBT_FACTOR = 2;

const countCounts = counter("hlvm.context.counts", "Contexts that a provider was asked to count ahead.", "{count}");

/** Has the provider count a context where its estimate leaves open what to do; usual turns do not come here. */
export class TokenCounter {
  #isAvailable = true;

  /**
   * @param assembled that may be sent
   * @returns undefined where the provider does not count ahead, or not now: then the estimate has to do, for the rest of the run
   */
  async count({ messages }: AssembledContext, { mesh, model, prefix, signal }: RunContext): Promise<number | undefined> {
    if (!this.#isAvailable) return undefined;
    try {
      const counted = await mesh.models.countTokens({ model: model.id, messages, tools: prefix.modelTools }, signal);
      this.#isAvailable = counted !== undefined;
      countCounts(1, { outcome: counted === undefined ? "none" : "counted" });
      return counted;
    } catch {
      signal.throwIfAborted();
      this.#isAvailable = false;
      countCounts(1, { outcome: "failed" });
      return undefined;
    }
  }
}

/**
 * Whether a count may show that a context is on the other side of a bound than its estimate says.
 * @param countedEstimate how much of the estimate was in a request that the provider has counted
 */
export function isInDoubt({ tokens, estimate }: AssembledContext, countedEstimate: number, bound: number): boolean {
  const uncounted = tokens * (Math.max(0, estimate - countedEstimate) / Math.max(1, estimate));
  return tokens - uncounted + uncounted / DOUBT_FACTOR <= bound && bound < tokens + uncounted * (DOUBT_FACTOR - 1);
}
