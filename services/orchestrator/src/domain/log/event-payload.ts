import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

export type EventPayload = Exclude<Event["payload"], { case: undefined }>;
export type EventCase = EventPayload["case"];

type PayloadInit = Exclude<NonNullable<MessageInitShape<typeof EventSchema>["payload"]>, { case?: undefined }>;
type ValueInit<Case extends EventCase> = Extract<PayloadInit, { case: Case }>["value"];

/** What the table and the indexes take for an event that has next to nothing in it. */
const EMPTY_BYTES = 100;

/** One entry for the log, before it has a place there. */
export function eventPayload<Case extends EventCase>(type: Case, value: ValueInit<Case>): EventPayload {
  return create(EventSchema, { payload: { case: type, value } as PayloadInit }).payload as EventPayload;
}

/** The event's name in the log and in NDJSON: snake_case, as in the contract. */
export function eventType(payload: EventPayload): string {
  return payload.case.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** About how many bytes an event that shows a run's progress takes; of the others the least. */
export function progressLength({ case: type, value }: EventPayload): number {
  const text = type === "messageDelta" || type === "reasoningUpdate" ? value.text : type === "toolOutput" ? value.output?.text : undefined;
  return EMPTY_BYTES + (text?.length ?? 0);
}
