import { say } from "./say.ts";
import type { Behaviour } from "./usual-behaviour.ts";

/** Has the model say one word, and its end when the test lets it. @returns what lets it */
export function pauseModel(behaviour: Behaviour): () => void {
  const released = Promise.withResolvers<void>();
  behaviour.generate = async function* (_, __, { signal }) {
    yield { event: { case: "textDelta", value: "Well, " } };
    await Promise.race([released.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    yield* say("here it is.");
  };
  return released.resolve;
}
