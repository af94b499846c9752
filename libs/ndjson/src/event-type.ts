import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

type EventCase = Exclude<Event["payload"]["case"], undefined>;

/** An event's name in the log and in NDJSON: as the contract has it, `tool_start`. */
export function eventType(type: EventCase): string {
  return EventSchema.field[type].name;
}
