import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Asked } from "./ask-model.ts";
import { ModelFailure } from "./model-failure.ts";
import type { ModelEvent } from "./ports.ts";

/** Reads a model call; ends it when the model is silent or takes too long. */
export async function* readModel(asked: Pick<Asked, "models" | "request" | "limits" | "signal">): AsyncGenerator<ModelEvent, void> {
  const { limits } = asked;
  const ending = new AbortController();
  const silence = setTimeout(
    () => ending.abort(tooLong("sent nothing for", limits.modelSilenceMilliseconds)),
    limits.modelSilenceMilliseconds,
  );
  const total = setTimeout(() => ending.abort(tooLong("had not finished after", limits.modelMilliseconds)), limits.modelMilliseconds);
  try {
    for await (const event of asked.models.generate(asked.request, AbortSignal.any([asked.signal, ending.signal]))) {
      silence.refresh();
      yield event;
    }
  } catch (thrown) {
    asked.signal.throwIfAborted();
    if (ending.signal.aborted) throw ending.signal.reason;
    throw thrown;
  } finally {
    clearTimeout(silence);
    clearTimeout(total);
  }
}

function tooLong(what: string, milliseconds: number): ModelFailure {
  return new ModelFailure({
    errorClass: ErrorClass.TIMEOUT,
    message: `The model ${what} ${Math.round(milliseconds / 1000)} s.`,
    advice: "Check that the model's server is well, or choose another model with --model.",
  });
}
