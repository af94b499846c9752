import { setTimeout as sleep } from "node:timers/promises";
import { ErrorClass, FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Answer } from "./answer.ts";
import type { Limits } from "./limits.ts";
import { ModelFailure } from "./model-failure.ts";
import { readModel } from "./read-model.ts";
import type { ModelEvent, ModelRequest, Models } from "./ports.ts";

const ATTEMPTS = 3;
const FIRST_PAUSE_MILLISECONDS = 500;
/** A provider that wants a longer pause than this is not waited for. */
const LONGEST_PAUSE_MILLISECONDS = 30_000;

export interface Asked {
  readonly models: Models;
  readonly request: ModelRequest;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ModelEvent) => void;
  /** Every attempt's answer as it begins: it tells what was seen where the call fails in the end. */
  readonly onAttempt: (answer: Answer) => void;
}

/**
 * One model call. A failure that may pass is tried again while nothing was shown: what was seen is never taken back.
 * @throws ModelFailure, or the signal's reason
 */
export async function askModel(asked: Asked): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = new Answer();
    asked.onAttempt(answer);
    try {
      for await (const event of readModel(asked)) {
        answer.add(event);
        asked.onEvent(event);
      }
      requireWhole(answer);
      return answer;
    } catch (thrown) {
      asked.signal.throwIfAborted();
      const pause = thrown instanceof ModelFailure && thrown.isPassing && !answer.isShown ? pauseBefore(attempt, thrown) : undefined;
      if (pause === undefined || attempt === ATTEMPTS) throw thrown;
      await sleep(pause, undefined, { signal: asked.signal }).catch(() => asked.signal.throwIfAborted());
    }
  }
}

function requireWhole(answer: Answer): void {
  if (!answer.isFinished)
    throw new ModelFailure({
      errorClass: ErrorClass.TRANSIENT,
      message: "The model's answer was cut off before its end.",
      advice: "Ask again; if it happens often, check the connection to the provider.",
    });
  if (answer.isEmpty && answer.finish.reason !== FinishReason.REFUSAL)
    throw new ModelFailure({
      errorClass: ErrorClass.TRANSIENT,
      message:
        answer.finish.reason === FinishReason.LENGTH
          ? "The model used up its output limit before it said anything."
          : "The model answered with nothing.",
      advice: "Ask again in other words, or choose another model with --model.",
    });
}

/** Full jitter, doubling; undefined where the provider asks for more patience than there is. */
function pauseBefore(attempt: number, failure: ModelFailure): number | undefined {
  if (failure.retryAfterMilliseconds > LONGEST_PAUSE_MILLISECONDS) return undefined;
  return Math.max(failure.retryAfterMilliseconds, Math.random() * FIRST_PAUSE_MILLISECONDS * 2 ** (attempt - 1));
}
