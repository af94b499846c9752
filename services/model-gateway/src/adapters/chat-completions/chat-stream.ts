import { randomUUID } from "node:crypto";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { HeldCalls } from "../held-calls.ts";
import { parseArguments } from "../parse-arguments.ts";
import { sealProviderData } from "../provider-data.ts";
import { readFailure } from "../read-failure.ts";
import { parseChunk, usageOf, wordsOf, type ChatCallDelta, type ChatChunk, type ChatDelta } from "./chat-chunk.ts";
import { readFinish } from "./chat-finish.ts";
import type { ChatCallData, ChatThinking } from "./chat-request.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import { DONE, ServerSentEvents } from "./server-sent-events.ts";

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  name: string;
  argumentsJson: string;
  extraContent: unknown;
}

/**
 * The deltas of a streamed chat completion. It ends with `[DONE]`, with the usage that comes with or after the finish reason, or
 * with the body; without a finish reason it gives no `finish`: the stream was cut.
 */
export class ChatStream {
  readonly #provider: string;
  readonly #model: string;
  readonly #check: (event: string) => void;
  readonly #events: ServerSentEvents;
  readonly #calls: OpenCall[] = [];
  #thinking: { readonly field: string; text: string; readonly details: ReasoningDetails } | undefined;
  #refusal = "";
  #finishReason = "";
  #usage: Usage | undefined;
  #isOver = false;

  /** @param check sees every event before it is read, and throws where it is not what it should be */
  constructor(provider: string, model: string, check: (event: string) => void = () => undefined) {
    this.#provider = provider;
    this.#model = model;
    this.#check = check;
    this.#events = new ServerSentEvents(provider);
  }

  /** Nothing more of it comes, whatever the server does with the connection. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** @param piece of the body @throws ModelError */
  take(piece: Uint8Array): Generator<Delta> {
    return this.#read(this.#events.take(piece));
  }

  /** To be called when it is over, or its body is. @throws ModelError */
  *end(): Generator<Delta> {
    yield* this.#read(this.#events.end());
    if (this.#finishReason === "") return;
    yield* this.#endOfThinking();
    const finish = this.#finish();
    const held = new HeldCalls();
    for (const call of this.#calls)
      yield* held.add({ id: call.id, tool: call.name, argumentsJson: call.argumentsJson, ...this.#dataOf(call) });
    yield* held.settle(finish.reason);
    if (this.#usage !== undefined) yield { kind: "usage", ...this.#usage };
    yield { kind: "finish", ...finish };
  }

  *#read(events: readonly string[]): Generator<Delta> {
    for (const event of events) {
      if (event === DONE) this.#isOver = true;
      if (this.#isOver) return;
      this.#check(event);
      for (const delta of this.#takeChunk(parseChunk(this.#provider, event))) yield delta;
    }
  }

  #takeChunk(chunk: ChatChunk): readonly Delta[] {
    if (chunk.error !== undefined && chunk.error !== null)
      throw readFailure(this.#provider, { body: chunk, cause: new Error("an error inside the stream", { cause: chunk.error }) });
    if (chunk.usage) this.#usage = usageOf(chunk.usage);
    const choice = chunk.choices?.[0];
    const deltas = choice?.delta ? this.#takeDelta(choice.delta) : [];
    if (choice?.finish_reason) this.#finishReason = choice.finish_reason;
    this.#isOver = this.#finishReason !== "" && Boolean(chunk.usage);
    return deltas;
  }

  #takeDelta(delta: ChatDelta): Delta[] {
    const deltas: Delta[] = [];
    const { text, thinking } = wordsOf(delta);
    const said = delta.reasoning_content || delta.reasoning || thinking;
    const field = delta.reasoning_content ? "reasoning_content" : thinking && !delta.reasoning ? "content" : "reasoning";
    if (said || delta.reasoning_details?.length) {
      this.#thinking ??= { field, text: "", details: new ReasoningDetails() };
      const detailed = this.#thinking.details.add(delta.reasoning_details ?? []);
      const thought = said || detailed;
      this.#thinking.text += thought;
      if (thought !== "") deltas.push({ kind: "thinking-delta", text: thought });
    }
    if (delta.refusal) this.#refusal += delta.refusal;
    if (text !== "") {
      deltas.push(...this.#endOfThinking(), { kind: "text", text });
    }
    for (const call of delta.tool_calls ?? []) this.#takeCall(call);
    return deltas;
  }

  #endOfThinking(): readonly Delta[] {
    if (this.#thinking === undefined) return [];
    const { field, text, details } = this.#thinking;
    this.#thinking = undefined;
    const data: ChatThinking = { field, ...(details.whole.length === 0 ? {} : { details: details.whole }) };
    return [{ kind: "thinking", text, providerData: sealProviderData(this.#provider, this.#model, data) }];
  }

  #takeCall({ index, id, function: written, extra_content: extraContent }: ChatCallDelta): void {
    let call = this.#openCall(index, id, written?.name);
    if (call === undefined) {
      call = { index, id: id || `call_${randomUUID()}`, name: "", argumentsJson: "", extraContent: undefined };
      this.#calls.push(call);
    }
    const { arguments: piece } = written ?? {};
    call.name ||= written?.name ?? "";
    call.argumentsJson += typeof piece === "string" ? piece : piece ? JSON.stringify(piece) : "";
    if (extraContent !== undefined && extraContent !== null) call.extraContent = extraContent;
  }

  /**
   * The call that a piece belongs to; undefined: it begins another one. Some servers give every parallel call the same index or
   * none: then a new id, or a name where the arguments so far are whole, begins the next call.
   */
  #openCall(index: number | undefined, id: string | null | undefined, name: string | null | undefined): OpenCall | undefined {
    const call = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((each) => each.index === index);
    if (call === undefined || !name) return call;
    if (id) return id === call.id ? call : undefined;
    const isOther = call.argumentsJson === "" && call.name !== "" && call.name !== name;
    return isOther || parseArguments(call.argumentsJson) !== undefined ? undefined : call;
  }

  #dataOf({ extraContent }: OpenCall): { readonly providerData?: Uint8Array } {
    if (extraContent === undefined) return {};
    return { providerData: sealProviderData(this.#provider, this.#model, { extraContent } satisfies ChatCallData) };
  }

  #finish(): Finish {
    const reason = readFinish(this.#provider, this.#finishReason);
    if (this.#refusal !== "") return { reason: "refusal", detail: this.#refusal };
    if (reason === "refusal") return { reason, detail: "The provider's content filter ended the answer." };
    if (reason === "length") return { reason, detail: "" };
    return { reason: this.#calls.length > 0 ? "tool-calls" : "stop", detail: "" };
  }
}
