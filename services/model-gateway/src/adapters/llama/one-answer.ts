import { ModelError } from "../../domain/model-error.ts";
import { fieldsOf } from "../fields-of.ts";

export const CROSS_TALK = "cross_talk";

/**
 * For the events of one answer. A server that goes on with the answer to somebody else's request, which every event's id tells, is
 * stopped there.
 * @returns what throws ModelError `cross_talk` at such an event
 */
export function oneAnswer(provider: string): (event: string) => void {
  let id = "";
  return (event) => {
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
  };
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
