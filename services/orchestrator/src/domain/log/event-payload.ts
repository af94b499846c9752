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

/** Longer than this a piece of text is not made by joining others to it. */
const JOINED_LENGTH = 64 * 1_024;

/** One event in place of two that follow each other, where both are pieces of the same text. */
export function joinProgress(one: EventPayload, next: EventPayload): EventPayload | undefined {
  if (progressLength(one) + progressLength(next) > JOINED_LENGTH) return undefined;
  if (one.case === "toolOutput" && next.case === "toolOutput") {
    const [output, more] = [one.value.output, next.value.output];
    if (one.value.callId !== next.value.callId || output === undefined || output.stream !== more?.stream) return undefined;
    return eventPayload("toolOutput", { callId: one.value.callId, output: { stream: output.stream, text: output.text + more.text } });
  }
  const isText = (one.case === "messageDelta" && next.case === one.case) || (one.case === "reasoningUpdate" && next.case === one.case);
  return isText ? eventPayload(one.case, { text: one.value.text + next.value.text }) : undefined;
}

/** About how many bytes an event that shows a run's progress takes; of the others the least. */
export function progressLength({ case: type, value }: EventPayload): number {
  const text = type === "messageDelta" || type === "reasoningUpdate" ? value.text : type === "toolOutput" ? value.output?.text : undefined;
  return EMPTY_BYTES + (text?.length ?? 0);
}
