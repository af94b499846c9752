import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { AssistantMessage, Compaction, Event, RunStarted, ToolEnd, UserMessage } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust, TrustFloorSchema, type TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { lowerFloor, type Provenance } from "../context/provenance.ts";
import { correctionOf } from "../context/token-budget.ts";
import { memoryMessage } from "../prompt/with-memory.ts";
import { callId } from "../tools/call-id.ts";
import { summarizeJson } from "../tools/summarize-arguments.ts";
import { fitMessages } from "./fit-messages.ts";
import { foldCompaction, type Provenances } from "./fold-compaction.ts";

/** What a fold needs of an event; one that is not known to be in the log yet has no sequence. */
export type FoldedEvent = Pick<Event, "runId" | "turn" | "payload"> & Partial<Pick<Event, "sequence" | "at" | "principal">>;

const CANCELLED = "Cancelled: the run was stopped before this call had a result. It may or may not have taken effect.";

const SHORTENED = "longer than the tool or the run may give";

interface OpenTurn {
  readonly calls: readonly { readonly callId: string; readonly id: string; readonly tool: string; readonly argumentsJson: string }[];
  readonly results: Map<string, { readonly end: ToolEnd; readonly event: FoldedEvent }>;
  readonly event: FoldedEvent;
}

/** Messages of people to one run that stay word for word. */
const MOST_ASKED = 8;

/** Sequences of what a compaction leaves as it is. */
interface Anchors {
  /** The session's first question. */
  task: bigint;
  /** What people said to the last run. */
  asked: bigint[];
  runStarted: bigint;
  memory: bigint;
}

/**
 * The messages for the model, folded from a session's events one by one. The loop feeds it what it appends, a resumed
 * run feeds it the log: both get the same messages. Every tool call has exactly one result, whatever the log lacks.
 */
export class Conversation {
  readonly #model: string;
  readonly #provenances: Provenances = new WeakMap();
  #messages: Message[] = [];
  #isSameModel = true;
  #open: OpenTurn | undefined;
  /** What the last run is reminded of; a system message. */
  memory: Message | undefined;
  /** The least that anything up to here can be trusted, summaries included. */
  floor: TrustFloor | undefined;
  /** The provider's count of the last request over its estimate. */
  correction = 1;
  /** How much of the estimate was in a request that the provider has counted. */
  countedEstimate = 0;
  compaction: Compaction | undefined;
  lastRun: RunStarted | undefined;
  readonly anchors: Anchors = { task: 0n, asked: [], runStarted: 0n, memory: 0n };

  /** @param model the model that will read it: another model's thinking means nothing to it and is left out */
  constructor(model: string) {
    this.#model = model;
  }

  add(event: FoldedEvent): void {
    const { payload } = event;
    switch (payload.case) {
      case "userMessage":
        return this.#addUser(event, payload.value);
      case "runStarted":
        this.#isSameModel = payload.value.model === this.#model;
        if (!this.#isSameModel) this.#forgetCounts();
        this.lastRun = payload.value;
        this.anchors.runStarted = event.sequence ?? 0n;
        return;
      case "sessionImported":
        return this.#lower(Trust.EXTERNAL, "import");
      case "memoryActivity":
        if (event.turn === 0) this.#remember(event, memoryMessage({ ...payload.value, facts: payload.value.recalled }));
        return;
      case "assistantMessage":
        return this.#addAssistant(event, payload.value);
      case "toolEnd":
        this.#lower(payload.value.result?.trust, `${payload.value.tool} in turn ${event.turn}`);
        this.#open?.results.set(payload.value.callId, { end: payload.value, event });
        return;
      case "turnStats":
        if (this.#isSameModel) this.learn(Number(payload.value.inputTokens), Number(payload.value.estimatedInputTokens));
        return;
      case "compaction":
        this.#close();
        this.compaction = payload.value;
        this.countedEstimate = 0;
        this.floor = lowerFloor(this.floor, payload.value.trustFloor);
        this.#messages = foldCompaction(this.#messages, payload.value, this.#provenances);
    }
  }

  /** What the provider counts of a request, and what it was estimated at, uncorrected. */
  learn(counted: number, estimated: number): void {
    const correction = correctionOf(counted, estimated);
    if (correction === undefined) return;
    this.correction = correction;
    this.countedEstimate = estimated;
  }

  /** As the model is to read them now: calls that have no result yet have been cancelled, and what is too long to be sent is cut. */
  messages(): Message[] {
    return fitMessages([...this.#messages, ...this.#closing()], (from, to) =>
      this.#provenances.set(to, { ...this.provenanceOf(from), cut: "too long to be sent whole" }),
    );
  }

  provenanceOf(part: Part): Provenance {
    return this.#provenances.get(part) ?? { source: "", trust: Trust.UNSPECIFIED, kind: ContextKind.RAW, sequence: 0n };
  }

  #forgetCounts(): void {
    this.correction = 1;
    this.countedEstimate = 0;
  }

  #addUser(event: FoldedEvent, message: UserMessage): void {
    this.#close();
    const source = event.principal === undefined || event.principal === "" ? "user" : event.principal;
    const attachments = message.attachments.map(({ path, text }) =>
      this.#part(
        event,
        { source: `attachment ${path}`, trust: Trust.USER_CLAIMED, kind: ContextKind.EVIDENCE },
        {
          case: "text",
          value: `<attachment path=${JSON.stringify(path)}>\n${text}\n</attachment>`,
        },
      ),
    );
    const said = { source, trust: Trust.USER_CLAIMED, kind: ContextKind.INSTRUCTION };
    const parts = [...attachments, this.#part(event, said, { case: "text", value: message.text })];
    this.#lower(Trust.USER_CLAIMED, source);
    this.#anchor(event);
    const last = this.#messages.at(-1);
    // Some models take no two messages of a user in a row: after a run that was stopped early they are one.
    if (last?.role === Role.USER) last.parts.push(...parts);
    else this.#push(Role.USER, parts);
  }

  #anchor({ turn, sequence = 0n }: FoldedEvent): void {
    if (this.anchors.task === 0n) this.anchors.task = sequence;
    if (turn === 0) {
      this.anchors.asked = [];
      this.anchors.memory = 0n;
      this.memory = undefined;
    }
    this.anchors.asked.push(sequence);
    // The question and what was said last; what lies between is folded with the rest.
    if (this.anchors.asked.length > MOST_ASKED) this.anchors.asked.splice(1, 1);
  }

  #remember(event: FoldedEvent, text: string): void {
    if (text === "") return;
    this.anchors.memory = event.sequence ?? 0n;
    const about = { source: "memory", trust: Trust.INFERRED, kind: ContextKind.EVIDENCE };
    this.memory = create(MessageSchema, { role: Role.SYSTEM, parts: [this.#part(event, about, { case: "text", value: text })] });
  }

  #addAssistant(event: FoldedEvent, { text, thinking, toolCalls }: AssistantMessage): void {
    this.#close();
    const about = { source: "model", trust: Trust.INFERRED, kind: ContextKind.RAW };
    const parts: Part[] = [];
    if (this.#isSameModel) for (const value of thinking) parts.push(this.#part(event, about, { case: "thinking", value }));
    if (text !== "") parts.push(this.#part(event, about, { case: "text", value: text }));
    for (const value of toolCalls) parts.push(this.#part(event, about, { case: "toolCall", value }));
    if (text === "" && toolCalls.length === 0) return;
    this.#push(Role.ASSISTANT, parts);
    if (toolCalls.length === 0) return;
    const calls = toolCalls.map((call, index) => ({ ...call, callId: callId(event.runId, event.turn, index + 1) }));
    this.#open = { calls, results: new Map(), event };
  }

  #close(): void {
    this.#messages.push(...this.#closing());
    this.#open = undefined;
  }

  #closing(): Message[] {
    if (this.#open === undefined) return [];
    const { calls, results, event } = this.#open;
    const parts = calls.map(({ callId: name, id, tool, argumentsJson }) => {
      const found = results.get(name);
      const result = found?.end.result;
      const content = result?.content ?? CANCELLED;
      const about = { source: tool, trust: result?.trust || Trust.VERIFIED, kind: ContextKind.EVIDENCE };
      const described = { tool, argumentsSummary: summarizeJson(argumentsJson), length: content.length, isPutAside: false };
      const value = { id, tool, content, isError: result?.success !== true };
      return this.#part(
        found?.event ?? event,
        { ...about, ...(found === undefined ? {} : { result: described }), ...(result?.truncated === true ? { cut: SHORTENED } : {}) },
        { case: "toolResult", value },
      );
    });
    return [create(MessageSchema, { role: Role.TOOL, parts })];
  }

  #lower(trust: Trust | undefined, source: string): void {
    if (trust !== undefined && trust !== Trust.UNSPECIFIED)
      this.floor = lowerFloor(this.floor, create(TrustFloorSchema, { trust, source }));
  }

  #part(event: FoldedEvent, about: Omit<Provenance, "sequence" | "at">, part: MessageInitShape<typeof PartSchema>["part"]): Part {
    const created = create(PartSchema, { part });
    this.#provenances.set(created, { ...about, sequence: event.sequence ?? 0n, at: event.at });
    return created;
  }

  #push(role: Role, parts: Part[]): void {
    this.#messages.push(create(MessageSchema, { role, parts }));
  }
}
