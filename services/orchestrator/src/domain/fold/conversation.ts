import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import {
  type AssistantMessage,
  type Attachment,
  type Compaction,
  type Event,
  type InstructionsLoaded,
  type RunStarted,
  type ToolEnd,
  type UserMessage,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust, TrustFloorSchema, type ToolResult, type TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { lowerFloor, REMINDER, type Provenance } from "../context/provenance.ts";
import { correctionOf } from "../context/token-budget.ts";
import { memoryMessage } from "../prompt/with-memory.ts";
import { callId } from "../tools/call-id.ts";
import { Anchors } from "./anchors.ts";
import { attachedPart, fileNote, type TakenFiles } from "./file-part.ts";
import { fitFiles, LATER_FILES } from "./fit-files.ts";
import { fitMessages } from "./fit-messages.ts";
import { WorkState } from "../work/work-state.ts";
import { foldCompaction, type Provenances } from "./fold-compaction.ts";
import { insertInstructions } from "./insert-instructions.ts";
import { LoadedInstructions } from "./loaded-instructions.ts";
import { toldResult, type OpenTurn } from "./open-turn.ts";
import { UnreadMessages } from "./unread-messages.ts";

/** What a fold needs of an event; one that is not known to be in the log yet has no sequence. */
export type FoldedEvent = Pick<Event, "runId" | "turn" | "payload"> & Partial<Pick<Event, "sequence" | "at" | "principal">>;

/**
 * The messages for the model, folded from a session's events one by one. The loop feeds it what it appends, a resumed
 * run feeds it the log: both get the same messages. Every tool call has exactly one result, whatever the log lacks.
 */
export class Conversation {
  readonly #model: string;
  readonly #takes: TakenFiles;
  #hasFiles = false;
  readonly #provenances: Provenances = new WeakMap();
  #messages: Message[] = [];
  #isSameModel = true;
  #open: OpenTurn | undefined;
  readonly #unread = new UnreadMessages();
  /** What the last run is reminded of; a system message. */
  memory: Message | undefined;
  /** The least that anything up to here can be trusted, summaries included. */
  floor: TrustFloor | undefined;
  /** The provider's count of the last request over its estimate. */
  correction = 1;
  /** How much of the estimate was in a request that the provider has counted. */
  countedEstimate = 0;
  compaction: Compaction | undefined;
  readonly work = new WorkState();
  lastRun: RunStarted | undefined;
  readonly instructions: LoadedInstructions = new LoadedInstructions();
  readonly anchors = new Anchors();

  /**
   * @param model the model that will read it: another model's thinking means nothing to it and is left out
   * @param takes which files it takes: of others it is told that they were there
   */
  constructor(model: string, takes: TakenFiles = { takesImages: false, takesDocuments: false }) {
    this.#model = model;
    this.#takes = takes;
  }

  add(event: FoldedEvent): void {
    const { payload } = event;
    this.work.add(event);
    switch (payload.case) {
      case "userMessage":
        if (event.turn > 0) this.#unread.remove(payload.value.queuedSequence);
        else for (const unread of this.#unread.takeForRun(event.runId)) this.#addUser(unread.event, unread.message);
        return this.#addUser(event, payload.value);
      case "messageQueued":
        return this.#unread.add(event, payload.value);
      case "runStarted":
        this.#isSameModel = payload.value.model === this.#model;
        if (!this.#isSameModel) this.#forgetCounts();
        this.lastRun = payload.value;
        this.floor = lowerFloor(this.floor, payload.value.origin?.trustFloor);
        this.anchors.runStarted = event.sequence ?? 0n;
        return;
      case "sessionImported":
        return this.#lower(Trust.EXTERNAL, "import");
      case "memoryActivity":
        if (event.turn === 0) this.#remember(event, memoryMessage({ ...payload.value, facts: payload.value.recalled }));
        return;
      case "instructionsLoaded":
        return this.#addInstructions(event, payload.value);
      case "assistantMessage":
        return this.#addAssistant(event, payload.value);
      case "toolEnd":
        this.#lower(payload.value.result?.trust, `${payload.value.tool} in turn ${event.turn}`);
        return this.#addResult(event, payload.value);
      case "turnStats":
        if (this.#isSameModel) this.learn(Number(payload.value.inputTokens), Number(payload.value.estimatedInputTokens));
        return;
      case "reminder":
        return this.#remind(event, payload.value.text);
      case "compaction":
        this.#close();
        this.compaction = payload.value;
        this.countedEstimate = 0;
        this.floor = lowerFloor(this.floor, payload.value.trustFloor);
        this.#messages = foldCompaction(this.#messages, { ...payload.value, work: this.work }, this.#provenances);
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
    const note =
      (cut: string) =>
      (from: Part, to: Part): void =>
        void this.#provenances.set(to, { ...this.provenanceOf(from), file: undefined, cut });
    const all = [...this.#messages, ...this.#closing()];
    const sizeOf = (part: Part): number | undefined => this.provenanceOf(part).file?.size;
    return fitMessages(this.#hasFiles ? fitFiles(all, sizeOf, note(LATER_FILES)) : all, note("too long to be sent whole"));
  }

  /** Hashes of the images and documents that it shows. */
  files(): string[] {
    if (!this.#hasFiles) return [];
    return this.messages().flatMap(({ parts }) => parts.flatMap((part) => this.provenanceOf(part).file?.sha256 ?? []));
  }

  /** Fills in the bytes of the images and documents that it shows; what is not there any more becomes a note. */
  fill(files: ReadonlyMap<string, Uint8Array>): void {
    for (const part of this.messages().flatMap(({ parts }) => parts)) {
      const { file } = this.provenanceOf(part);
      if (file === undefined || (part.part.case !== "image" && part.part.case !== "document")) continue;
      const data = files.get(file.sha256);
      if (data === undefined) part.part = { case: "text", value: fileNote(part, "it is not kept any more") };
      else part.part.value.data = data;
    }
  }

  provenanceOf(part: Part): Provenance {
    return this.#provenances.get(part) ?? { source: "", trust: Trust.UNSPECIFIED, kind: ContextKind.RAW, sequence: 0n };
  }

  /** What the model is given of a call of the last answer; undefined where it has no result yet. */
  resultOf(callId: string): Part | undefined {
    return this.#open?.results.get(callId);
  }

  #forgetCounts(): void {
    this.correction = 1;
    this.countedEstimate = 0;
  }

  #addUser(event: FoldedEvent, message: UserMessage): void {
    this.#close();
    const source = message.author || event.principal || "user";
    const attachments = message.attachments.map((attachment) => this.#attached(event, attachment));
    const said = { source, trust: Trust.USER_CLAIMED, kind: ContextKind.INSTRUCTION };
    const parts = [...attachments, this.#part(event, said, { case: "text", value: message.text })];
    this.#lower(Trust.USER_CLAIMED, source);
    this.anchors.ask(event);
    if (event.turn === 0) this.memory = undefined;
    const last = this.#messages.at(-1);
    // Some models take no two messages of a user in a row: after a run that was stopped early they are one.
    if (last?.role === Role.USER) last.parts.push(...parts);
    else this.#push(Role.USER, parts);
  }

  #attached(event: FoldedEvent, attachment: Attachment): Part {
    const { about, part } = attachedPart(attachment, this.#takes);
    this.#hasFiles ||= about.file !== undefined;
    return this.#part(event, about, part);
  }

  /** Behind all that there is, so that what was sent before stays as it was. */
  #remind(event: FoldedEvent, value: string): void {
    this.#close();
    const about = { source: REMINDER, trust: Trust.VERIFIED, kind: ContextKind.INSTRUCTION };
    this.#push(Role.SYSTEM, [this.#part(event, about, { case: "text", value })]);
  }

  #remember(event: FoldedEvent, text: string): void {
    if (text === "") return;
    this.anchors.memory = event.sequence ?? 0n;
    const about = { source: "memory", trust: Trust.INFERRED, kind: ContextKind.EVIDENCE };
    this.memory = create(MessageSchema, { role: Role.SYSTEM, parts: [this.#part(event, about, { case: "text", value: text })] });
  }

  #addInstructions(event: FoldedEvent, loaded: InstructionsLoaded): void {
    const { added, dropped } = this.instructions.take(event, loaded);
    if (event.turn > 0) this.#close();
    for (const { part, about } of added) this.#provenances.set(part, about);
    this.#messages = insertInstructions(
      this.#messages,
      added.map(({ part }) => part),
      dropped,
      event.turn === 0,
    );
  }

  #addAssistant(event: FoldedEvent, { text, thinking, toolCalls }: AssistantMessage): void {
    this.#close();
    const about = { source: "model", trust: Trust.INFERRED, kind: ContextKind.RAW };
    const parts: Part[] = [];
    if (this.#isSameModel) for (const value of thinking) parts.push(this.#part(event, about, { case: "thinking", value }));
    if (text !== "") parts.push(this.#part(event, about, { case: "text", value: text }));
    for (const call of toolCalls) {
      const value = this.#isSameModel ? call : { ...call, providerData: new Uint8Array() };
      parts.push(this.#part(event, about, { case: "toolCall", value }));
    }
    if (text === "" && toolCalls.length === 0) return;
    this.#push(Role.ASSISTANT, parts);
    if (toolCalls.length === 0) return;
    const calls = toolCalls.map((call, index) => ({ ...call, callId: callId(event.runId, event.turn, index + 1) }));
    this.#open = { calls, results: new Map(), event };
  }

  #addResult(event: FoldedEvent, { callId, result }: ToolEnd): void {
    const call = this.#open?.calls.find((one) => one.callId === callId);
    if (call !== undefined) this.#open!.results.set(callId, this.#result(event, call, result));
  }

  #result(event: FoldedEvent, call: OpenTurn["calls"][number], result?: ToolResult): Part {
    const { about, value } = toldResult(call, result);
    return this.#part(event, about, { case: "toolResult", value });
  }

  #close(): void {
    this.#messages.push(...this.#closing());
    this.#open = undefined;
  }

  #closing(): Message[] {
    if (this.#open === undefined) return [];
    const { calls, results, event } = this.#open;
    const parts = calls.map((call) => results.get(call.callId) ?? this.#result(event, call));
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
