import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { EventCase, EventPayload } from "../domain/log/event-payload.ts";

type ValueOf<Case extends EventCase> = Extract<EventPayload, { case: Case }>["value"];

/** What the events of one kind say, in order. */
export function valuesOf<Case extends EventCase>(events: readonly Event[], type: Case): ValueOf<Case>[] {
  return events.flatMap(({ payload }) => (payload.case === type ? [payload.value as ValueOf<Case>] : []));
}
