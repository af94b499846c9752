import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Asked } from "./ask-model.ts";
import { ModelFailure } from "./model-failure.ts";
import type { ModelEvent } from "./ports.ts";

/**
 * Reads a model call that starts at once, but hands nothing on before `before` holds; ends it when the model is silent
 * or takes too long.
 */
export async function* readModel(
  asked: Pick<Asked, "models" | "request" | "limits" | "signal" | "before">,
): AsyncGenerator<ModelEvent, void> {
  const { limits } = asked;
  const ending = new AbortController();
  let silence: NodeJS.Timeout | undefined;
  const total = setTimeout(() => ending.abort(tooLong("had not finished after", limits.modelMilliseconds)), limits.modelMilliseconds);
  const stream = asked.models.generate(asked.request, AbortSignal.any([asked.signal, ending.signal]));
  const iterator = stream[Symbol.asyncIterator]();
  let next = iterator.next();
  next.catch(() => undefined);
  try {
    await asked.before;
    silence = setTimeout(() => ending.abort(tooLong("sent nothing for", limits.modelSilenceMilliseconds)), limits.modelSilenceMilliseconds);
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      silence.refresh();
      yield value;
      next = iterator.next();
    }
  } catch (thrown) {
    asked.signal.throwIfAborted();
    if (ending.signal.aborted) throw ending.signal.reason;
    throw thrown;
  } finally {
    clearTimeout(silence);
    clearTimeout(total);
    ending.abort();
    await iterator.return?.();
  }
}

function tooLong(what: string, milliseconds: number): ModelFailure {
  return new ModelFailure({
    errorClass: ErrorClass.TIMEOUT,
    message: `The model ${what} ${Math.round(milliseconds / 1000)} s.`,
    advice: "Check that the model's server is well, or choose another model with --model; then go on with --resume.",
  });
}
