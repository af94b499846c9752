import { setTimeout as sleep } from "node:timers/promises";
import { ErrorClass, FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Answer } from "./answer.ts";
import { AnswerLimit } from "./answer-limit.ts";
import type { Limits } from "./limits.ts";
import { ModelFailure } from "./model-failure.ts";
import { readModel } from "./read-model.ts";
import type { ModelEvent, ModelRequest, Models } from "./ports.ts";

const ATTEMPTS = 3;
const FIRST_PAUSE_MILLISECONDS = 500;

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
 * One model call. It is tried again where the connection to the gateway was lost and nothing was shown: what was seen is
 * never taken back.
 * @throws ModelFailure, or the signal's reason
 */
export async function askModel(asked: Asked): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = new Answer();
    const limit = new AnswerLimit();
    asked.onAttempt(answer);
    try {
      for await (const modelEvent of readModel(asked)) {
        for (const event of limit.admit(modelEvent)) {
          answer.add(event);
          asked.onEvent(event);
        }
      }
      requireWhole(answer);
      return answer;
    } catch (thrown) {
      asked.signal.throwIfAborted();
      const isLost = thrown instanceof ModelFailure && thrown.isConnectionLost;
      if (!isLost || answer.isShown || attempt === ATTEMPTS) throw thrown;
      const pause = Math.random() * FIRST_PAUSE_MILLISECONDS * 2 ** (attempt - 1);
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
      isConnectionLost: true,
    });
  const isLength = answer.finish.reason === FinishReason.LENGTH;
  if (answer.isEmpty && answer.finish.reason !== FinishReason.REFUSAL)
    throw new ModelFailure({
      errorClass: isLength ? ErrorClass.PERMANENT : ErrorClass.TRANSIENT,
      message: isLength ? "The model used up its output limit before it said anything." : "The model answered with nothing.",
      advice: "Ask again in other words, or choose another model with --model.",
    });
}
