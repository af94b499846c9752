import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ModelFailure } from "./model-failure.ts";
import type { ModelEvent } from "./ports.ts";

/** UTF-16 units of one answer, thinking and the arguments of its calls included: more than a model that works well ever says at once. */
const ANSWER_LENGTH = 2 * 1024 * 1024;

/** Keeps one answer to a length that the log, those who watch and the next model call can take. */
export class AnswerLimit {
  #left = ANSWER_LENGTH;

  /**
   * The event where there is room for it; of a text that goes beyond, what there is room for.
   * @throws ModelFailure with the event after that
   */
  *admit(event: ModelEvent): Generator<ModelEvent, void> {
    const left = this.#left;
    this.#left -= lengthOf(event);
    if (this.#left >= 0) return yield event;
    if (event.case === "textDelta" || event.case === "thinkingDelta")
      yield { case: event.case, value: event.value.slice(0, Math.max(0, left)).replace(/[\uD800-\uDBFF]$/, "") };
    throw new ModelFailure({
      errorClass: ErrorClass.PERMANENT,
      message: `The model's answer went on beyond ${ANSWER_LENGTH} characters, and was stopped there.`,
      advice: "Ask for less at a time, or choose another model with --model.",
    });
  }
}

function lengthOf(event: ModelEvent): number {
  switch (event.case) {
    case "textDelta":
    case "thinkingDelta":
      return event.value.length;
    case "thinking":
      return event.value.text.length + event.value.providerData.length;
    case "toolCall":
      return event.value.argumentsJson.length + event.value.providerData.length;
    default:
      return 0;
  }
}
