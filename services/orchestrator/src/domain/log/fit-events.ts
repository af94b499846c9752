import { clone } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { cutText } from "../fold/cut-text.ts";

/** UTF-16 units, of at most three bytes each: an event of that length and what frames it can be sent. */
const EVENT_LENGTH = 4 * 1024 * 1024;
/** What goes together in one message, unless a single event is longer. */
const PIECE_LENGTH = 1024 * 1024;

/** Events in pieces that can be sent: the texts of an event that is too long are cut, and say so. The log keeps them whole. */
export function* fitEvents(events: readonly Event[]): Generator<readonly Event[], void> {
  let piece: Event[] = [];
  let length = 0;
  for (const event of events) {
    const own = longTexts(event).reduce((total, text) => total + text.length, 0);
    if (piece.length > 0 && length + own > PIECE_LENGTH) {
      yield piece;
      piece = [];
      length = 0;
    }
    piece.push(own > EVENT_LENGTH ? cut(event) : event);
    length += own;
  }
  if (piece.length > 0) yield piece;
}

function cut(event: Event): Event {
  const fitting = clone(EventSchema, event);
  const texts = longTexts(fitting);
  const share = Math.floor(EVENT_LENGTH / texts.length);
  for (const text of texts) text.cut(share);
  return fitting;
}

interface LongText {
  readonly length: number;
  readonly cut: (length: number) => void;
}

/** The texts of an event that others decide the length of. */
function longTexts({ payload }: Event): LongText[] {
  switch (payload.case) {
    case "messageDelta":
    case "reasoningUpdate":
    case "runStopped":
    case "planCreated":
    case "planAnswered":
      return [textOf(payload.value, "text")];
    case "userMessage":
    case "messageQueued":
      return [textOf(payload.value, "text"), ...payload.value.attachments.map((attachment) => textOf(attachment, "text"))];
    case "assistantMessage": {
      const { thinking, toolCalls } = payload.value;
      return [
        textOf(payload.value, "text"),
        ...thinking.map((thought) => textOf(thought, "text")),
        ...toolCalls.map((call) => textOf(call, "argumentsJson")),
      ];
    }
    case "toolSelected":
    case "toolStart":
      return [textOf(payload.value, "argumentsJson")];
    case "toolEnd":
      return payload.value.result === undefined ? [] : [textOf(payload.value.result, "content")];
    default:
      return [];
  }
}

function textOf<Name extends string>(holder: Record<Name, string>, name: Name): LongText {
  return {
    length: holder[name].length,
    cut: (length) => {
      (holder as Record<string, string>)[name] = cutText(holder[name], length);
    },
  };
}
