import type { EventPayload } from "./event-payload.ts";

/** Letters and numbers. A script without blanks between its words is found character by character. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Of one message, in UTF-16 units: what it says behind them is not found, and no message can grow the index without end. */
const SEARCHED_LENGTH = 64 * 1024;
const WORD_CHARACTERS = 64;

/** The different words of a text as they are searched by, in lower case. */
export function searchWords(text: string): string[] {
  const words = text.slice(0, SEARCHED_LENGTH).normalize("NFKC").toLowerCase().match(WORD) ?? [];
  return [...new Set(words.map((word) => Array.from(word).slice(0, WORD_CHARACTERS).join("")))];
}

/** What people search for in an event: what was said. */
export function saidIn(payload: EventPayload): string | undefined {
  if (payload.case === "userMessage" || payload.case === "assistantMessage") return payload.value.text;
  return undefined;
}

/** The words of an event, separated by blanks, for PostgreSQL to take apart; null where nothing was said. */
export function eventWords(payload: EventPayload): string | null {
  const words = searchWords(saidIn(payload) ?? "");
  return words.length === 0 ? null : words.join(" ");
}
