import type { EventPayload } from "./event-payload.ts";

/** What an event that has little else weighs. */
const EMPTY = 100;

/** About how many characters of a statement an event that shows a run's progress takes. */
export function deltaLength({ case: type, value }: EventPayload): number {
  switch (type) {
    case "messageDelta":
    case "reasoningUpdate":
      return EMPTY + value.text.length;
    case "toolOutput":
      return EMPTY + (value.output?.text.length ?? 0);
    default:
      return EMPTY;
  }
}
