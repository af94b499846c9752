import { Conversation } from "@hlvm/conversation/conversation";
import type { Item } from "@hlvm/conversation/item";
import { TodoStatus, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { markdownChange, markdownItem } from "./markdown-item.ts";
import { inline } from "./markdown-text.ts";
import type { Session } from "./session.ts";

/**
 * A session's transcript for people, in Markdown, piece by piece: an item is written once nothing changes it any more, and then
 * forgotten. What was undone stays in it, before the line that says so.
 */
export class MarkdownTranscript {
  readonly #conversation = new Conversation(({ item, before }) => {
    if (before !== undefined) this.#note(item, before);
  });
  /** Items that are written. */
  #text = "";
  /** By the key of the item that they stand behind. */
  readonly #notes = new Map<string, string>();

  head(session: Session): string {
    const from = session.createdAt.toISOString();
    const facts = [`Session ${session.sessionId}`, session.owner, session.workspace, session.model, from];
    return `# ${inline(session.title)}\n\n${facts.map((fact) => `- ${inline(fact)}\n`).join("")}`;
  }

  /** @returns what can be written now */
  add(event: Event): string {
    if (event.payload.case === "conversationUndone") this.#write(this.#conversation.items.splice(0));
    this.#conversation.add([event]);
    this.#write(this.#conversation.takeSettled());
    return this.#taken();
  }

  /** @returns the rest: what was still open when the log ended, and what is left to be done */
  end(): string {
    this.#write(this.#conversation.items.splice(0));
    const { todo } = this.#conversation;
    const boxes = todo.map(({ text, status }) => `- [${status === TodoStatus.COMPLETED ? "x" : " "}] ${inline(text)}\n`);
    if (boxes.length > 0) this.#text += `\n## To do\n\n${boxes.join("")}`;
    return this.#taken();
  }

  #write(items: readonly Item[]): void {
    for (const item of items) {
      this.#text += markdownItem(item) + (this.#notes.get(item.key) ?? "");
      this.#notes.delete(item.key);
    }
  }

  /** Behind the last item that there is now, which may not be written yet, and stays. */
  #note(item: Item, before: Item): void {
    const note = markdownChange(item, before);
    if (note === "") return;
    const last = this.#conversation.items.findLast((one) => one.kind !== "user" || !one.isPending);
    if (last === undefined) this.#text += note;
    else this.#notes.set(last.key, `${this.#notes.get(last.key) ?? ""}${note}`);
  }

  #taken(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
