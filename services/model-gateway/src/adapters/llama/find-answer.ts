import { setTimeout as sleep } from "node:timers/promises";
import { notResumable } from "../../domain/resume/not-resumable.ts";
import { Exchange } from "../exchange.ts";
import type { LlamaInstance } from "./llama-instance.ts";
import { LLAMA } from "./provider-name.ts";
import type { LlamaPool } from "./llama-pool.ts";

const ASK_MILLISECONDS = 2_000;
/** Less than a caller waits for its answer to go on. */
const FIND_MILLISECONDS = 8_000;
const PAUSE_MILLISECONDS = 100;
const NONE = -1;

/**
 * The server of a pool that goes on with an answer. One that does not answer at once may be it: all are asked again, for 8 s.
 * @param heard called whenever they are asked again
 * @throws HlvmError `resume_not_possible`; the signal's reason where it is aborted
 */
export async function findAnswer(pool: LlamaPool, name: string, signal: AbortSignal, heard: () => void): Promise<LlamaInstance> {
  const until = performance.now() + FIND_MILLISECONDS;
  for (;;) {
    const instances = (await pool.instances()).filter(({ answers }) => answers.isPossible !== false);
    const asked = await Promise.all(instances.map(async (instance) => ({ instance, bytes: await bytesAt(instance, name, signal) })));
    signal.throwIfAborted();
    const isComplete = asked.every(({ bytes }) => bytes !== undefined);
    if (isComplete || performance.now() > until) {
      // A server that was asked first and gave up may have a beginning of it.
      const [most] = asked.toSorted((one, other) => (other.bytes ?? NONE) - (one.bytes ?? NONE));
      if ((most?.bytes ?? NONE) !== NONE) return most!.instance;
      throw notResumable(isComplete ? "no llama-server has it" : "a llama-server that may have it does not answer");
    }
    heard();
    await sleep(PAUSE_MILLISECONDS, undefined, { signal });
  }
}

/** How much of an answer a server has, -1 for none; undefined where it does not answer. */
async function bytesAt(instance: LlamaInstance, name: string, signal: AbortSignal): Promise<number | undefined> {
  // It has never been well since this gateway was started. One that is not there, or loads its model, has nothing.
  if (instance.groups.length === 0) return instance.isSilent ? undefined : NONE;
  const exchange = new Exchange(LLAMA, AbortSignal.any([signal, AbortSignal.timeout(ASK_MILLISECONDS)]), () => undefined);
  try {
    return (await instance.answers.bytesOf(name, exchange)) ?? NONE;
  } catch {
    return undefined;
  } finally {
    exchange.close();
  }
}
