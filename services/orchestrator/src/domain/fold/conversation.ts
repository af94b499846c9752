import { create } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { AssistantMessage, Event, ToolEnd, UserMessage } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { callId } from "../tools/call-id.ts";
import { fitMessages } from "./fit-messages.ts";

/** What a fold needs of an event. */
export type FoldedEvent = Pick<Event, "runId" | "turn" | "payload">;

const CANCELLED = "Cancelled: the run was stopped before this call had a result. It may or may not have taken effect.";

interface OpenTurn {
  readonly calls: readonly { readonly callId: string; readonly id: string; readonly tool: string }[];
  readonly results: Map<string, ToolEnd>;
}

/**
 * The messages for the model, folded from a session's events one by one. The loop feeds it what it appends, a resumed
 * run feeds it the log: both get the same messages. Every tool call has exactly one result, whatever the log lacks.
 */
export class Conversation {
  readonly #model: string;
  readonly #messages: Message[] = [];
  #isSameModel = true;
  #open: OpenTurn | undefined;

  /** @param model the model that will read it: another model's thinking means nothing to it and is left out */
  constructor(model: string) {
    this.#model = model;
  }

  add({ runId, turn, payload }: FoldedEvent): void {
    switch (payload.case) {
      case "userMessage":
        return this.#addUser(payload.value);
      case "runStarted":
        this.#isSameModel = payload.value.model === this.#model;
        return;
      case "assistantMessage":
        return this.#addAssistant(runId, turn, payload.value);
      case "toolEnd":
        this.#open?.results.set(payload.value.callId, payload.value);
        return;
    }
  }

  /** As the model is to read them now: calls that have no result yet have been cancelled, and what is too long to be sent is cut. */
  messages(): Message[] {
    return fitMessages([...this.#messages, ...this.#closing()]);
  }

  #addUser(message: UserMessage): void {
    this.#close();
    const attachments = message.attachments.map(({ path, text }) =>
      textPart(`<attachment path=${JSON.stringify(path)}>\n${text}\n</attachment>`),
    );
    const parts = [...attachments, textPart(message.text)];
    const last = this.#messages.at(-1);
    // Some models take no two messages of a user in a row: after a run that was stopped early they are one.
    if (last?.role === Role.USER) last.parts.push(...parts);
    else this.#push(Role.USER, parts);
  }

  #addAssistant(runId: string, turn: number, { text, thinking, toolCalls }: AssistantMessage): void {
    this.#close();
    const parts: Part[] = [];
    if (this.#isSameModel) for (const value of thinking) parts.push(create(PartSchema, { part: { case: "thinking", value } }));
    if (text !== "") parts.push(textPart(text));
    for (const value of toolCalls) parts.push(create(PartSchema, { part: { case: "toolCall", value } }));
    if (text === "" && toolCalls.length === 0) return;
    this.#push(Role.ASSISTANT, parts);
    if (toolCalls.length === 0) return;
    const calls = toolCalls.map(({ id, tool }, index) => ({ callId: callId(runId, turn, index + 1), id, tool }));
    this.#open = { calls, results: new Map() };
  }

  #close(): void {
    this.#messages.push(...this.#closing());
    this.#open = undefined;
  }

  #closing(): Message[] {
    if (this.#open === undefined) return [];
    const { calls, results } = this.#open;
    const parts = calls.map(({ callId: name, id, tool }) => {
      const result = results.get(name)?.result;
      const value = { id, tool, content: result?.content ?? CANCELLED, isError: result?.success !== true };
      return create(PartSchema, { part: { case: "toolResult", value } });
    });
    return [create(MessageSchema, { role: Role.TOOL, parts })];
  }

  #push(role: Role, parts: Part[]): void {
    this.#messages.push(create(MessageSchema, { role, parts }));
  }
}

function textPart(text: string): Part {
  return create(PartSchema, { part: { case: "text", value: text } });
}
