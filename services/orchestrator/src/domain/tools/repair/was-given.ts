import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { partText } from "../../context/part-text.ts";
import type { Conversation } from "../../fold/conversation.ts";

/**
 * Whether a text stands in what the model was given to read: in a result of a tool or an attachment. A model that repeats a call
 * from there does not make it. Blanks do not count, since models break lines as they like.
 */
export function wasGiven(conversation: Pick<Conversation, "messages" | "provenanceOf">): (text: string) => boolean {
  let given: string[] | undefined;
  return (text) => {
    given ??= evidenceOf(conversation);
    const wanted = withoutBlanks(text);
    return given.some((one) => one.includes(wanted));
  };
}

function evidenceOf(conversation: Pick<Conversation, "messages" | "provenanceOf">): string[] {
  const parts = conversation.messages().flatMap((message) => message.parts);
  const evidence = parts.filter((part) => conversation.provenanceOf(part).kind === ContextKind.EVIDENCE);
  return evidence.map((part) => withoutBlanks(partText(part)));
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
