import { ModelError } from "../../domain/model-error.ts";
import { fieldsOf } from "../fields-of.ts";

export const CROSS_TALK = "cross_talk";

/**
 * The events of one answer. A server that goes on with the answer to somebody else's request, which every event's id tells, is
 * stopped there.
 * @throws ModelError `cross_talk`
 */
export async function* oneAnswer(provider: string, events: AsyncIterable<string>): AsyncGenerator<string, void> {
  let id = "";
  for await (const event of events) {
    const own = idOf(event);
    if (own !== "" && id !== "" && own !== id)
      throw new ModelError({
        class: "transient",
        reason: CROSS_TALK,
        message: `${provider} went on with the answer to another request.`,
        advice: "Ask again; the server gets no more requests until somebody has looked at it (hlvm model pool).",
        provider,
      });
    id ||= own;
    yield event;
  }
}

/** Empty where an event has none: whoever reads it says what is wrong with it. */
function idOf(event: string): string {
  try {
    const { id } = fieldsOf(JSON.parse(event));
    return typeof id === "string" ? id : "";
  } catch {
    return "";
  }
}
