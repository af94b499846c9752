import type OpenAI from "openai";

/** Of which messages an answer's text was made, where it was several or they had a phase: OpenAI wants them back as they were. */
export interface SaidMessages {
  readonly type: "said_messages";
  readonly messages: readonly { readonly length: number; readonly phase?: OpenAI.Responses.ResponseOutputMessage["phase"] }[];
}

const BREAK_LENGTH = 2;

export function isSaidMessages(data: unknown): data is SaidMessages {
  return typeof data === "object" && data !== null && (data as Partial<SaidMessages>).type === "said_messages";
}

/** The messages again; one alone where the text is no longer what they came to. */
export function splitText(
  text: string,
  said: SaidMessages | undefined,
): readonly { readonly text: string; readonly phase?: "commentary" | "final_answer" }[] {
  const whole = [{ text }];
  if (said === undefined) return whole;
  const length = said.messages.reduce((sum, message) => sum + message.length, BREAK_LENGTH * (said.messages.length - 1));
  if (length !== text.length) return whole;
  let at = 0;
  return said.messages.map((message) => {
    const piece = text.slice(at, at + message.length);
    at += message.length + BREAK_LENGTH;
    return { text: piece, ...(message.phase ? { phase: message.phase } : {}) };
  });
}
