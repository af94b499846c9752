import { textOf, type Message } from "../domain/generation.ts";

/** The system messages before anything else, each by itself, and the rest of the conversation. */
export function splitSystem(messages: readonly Message[]): { leading: readonly string[]; conversation: readonly Message[] } {
  const first = messages.findIndex((message) => message.role !== "system");
  const end = first === -1 ? messages.length : first;
  return { leading: messages.slice(0, end).map(textOf), conversation: messages.slice(end) };
}

/** A later system message for providers that take none after the start: part of what the user's side says, marked as ours. */
export function asReminder(message: Message): string {
  return `<system-reminder>\n${textOf(message)}\n</system-reminder>`;
}
