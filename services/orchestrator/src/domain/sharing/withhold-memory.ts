import { create } from "@bufbuild/protobuf";
import { EventSchema, MemoryActivitySchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** Events as somebody may see them: what memory recalled for another person is theirs, and is told by its number alone. */
export function withholdMemory(events: readonly Event[], readerId: string): Event[] {
  return events.map((event) => {
    const { payload, principal } = event;
    if (payload.case !== "memoryActivity" || principal === readerId || principal === "") return event;
    const { recalled, written } = payload.value;
    const value = create(MemoryActivitySchema, { withheld: recalled.length + written.length, moreExist: payload.value.moreExist });
    return create(EventSchema, { ...event, payload: { case: "memoryActivity", value } });
  });
}
