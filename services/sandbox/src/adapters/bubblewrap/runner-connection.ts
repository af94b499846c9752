import type { Duplex } from "node:stream";
import { create, fromJson, toJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ProtectedChangeSchema,
  ProtectedEntrySchema,
  RunnerResponseSchema,
  type ProtectedChange as ChangeMessage,
  type RunnerRequestJson,
} from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { ToolResult as ResultMessage } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { toolErrorCodeWords } from "@hlvm/proto/hlvm/tool/v1/tool_words";
import type { Compared, FoundInstructions, InstructionsAsked, Previewed, RewindRequest, Rewound, ToolRun } from "../../domain/isolation.ts";
import type { ProtectedChange, ProtectedEntry } from "../../domain/protected-change.ts";
import type { ToolResult } from "../../domain/tool-event.ts";
import { encodeFrame, FrameDecoder } from "../../../runner/frames.ts";

const MAXIMUM_CONTENT_CHARACTERS = 2 * 1024 * 1024;
const MAXIMUM_SUMMARY_CHARACTERS = 500;
/** What only the services decide about. */
const SERVICE_CODES: ReadonlySet<string> = new Set(["permission_denied", "outcome_unknown"]);
const ERROR_CODES: ReadonlySet<string> = new Set(toolErrorCodeWords.filter((word) => !SERVICE_CODES.has(word)));

type GuardAnswer = "protected" | "restored" | "applied" | "checkpointed" | "rewound" | "compared" | "instructions" | "previewed";

interface Pending {
  readonly began: number;
  readonly resolve: (result: ToolResult) => void;
}

/**
 * Speaks with the runner in a sandbox. What comes from there is data of files that may be hostile: it is parsed, bounded,
 * and anything that does not fit the contract ends the connection.
 */
export class RunnerConnection {
  readonly #socket: Duplex;
  readonly #pending = new Map<string, Pending>();
  /** Who waits for an answer of the guard, by its kind and the call's id. */
  readonly #guarding = new Map<string, (answer: never) => void>();
  readonly #ready = Promise.withResolvers<void>();
  #fail: (cause: Error) => void;

  /** @param onFailure told once, of the first thing that breaks the contract or the connection */
  constructor(socket: Duplex, onFailure: (cause: Error) => void) {
    this.#socket = socket;
    this.#fail = (cause) => {
      this.#fail = () => undefined;
      socket.destroy();
      onFailure(cause);
    };
    const decoder = new FrameDecoder();
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const message of decoder.push(chunk)) this.#receive(message as JsonValue);
      } catch (cause) {
        this.#fail(new Error("the runner does not keep to its contract", { cause }));
      }
    });
    socket.on("error", (cause) => this.#fail(cause));
    for (const event of ["end", "close"]) socket.on(event, () => this.#fail(new Error("the runner has ended")));
  }

  /** Resolves when the runner has said that it takes calls. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves with the result; never, where the connection fails before it comes. */
  execute({ callId, tool, argumentsJson, timeoutMilliseconds, enforcement }: ToolRun): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#pending.set(callId, { began: performance.now(), resolve });
      const { profile, protectedPaths, expectedSha256 } = enforcement;
      const writes = { readOnly: profile === "read", protectedPaths: [...protectedPaths], expectedSha256 };
      this.#send({ execute: { callId, tool, argumentsJson, timeoutMilliseconds, ...writes } });
    });
  }

  /** Resolves when the runner has noted what stands at the protected paths; never, where the connection fails. */
  protect(callId: string): Promise<void> {
    return this.#askGuard("protected", callId, { protect: { callId } });
  }

  restore(callId: string, keepWatching: boolean): Promise<readonly ProtectedChange[]> {
    return this.#askGuard("restored", callId, { restore: { callId, keepWatching } });
  }

  /** @returns why it cannot be done; empty where it was */
  apply(callId: string, changes: readonly ProtectedChange[]): Promise<string> {
    const wire = changes.map((change) => toJson(ProtectedChangeSchema, create(ProtectedChangeSchema, messageOf(change))));
    return this.#askGuard("applied", callId, { apply: { callId, changes: wire } });
  }

  /** @returns why it could not be noted; empty where it was */
  checkpoint(callId: string, turn: string): Promise<string> {
    return this.#askGuard("checkpointed", callId, { checkpoint: { callId, turn } });
  }

  rewind(callId: string, request: RewindRequest): Promise<Rewound> {
    return this.#askGuard("rewound", callId, { rewind: { callId, ...request, turns: [...request.turns] } });
  }

  compare(callId: string): Promise<Compared> {
    return this.#askGuard("compared", callId, { compare: { callId } });
  }

  readInstructions(callId: string, { folders, all, profiles }: InstructionsAsked): Promise<FoundInstructions> {
    return this.#askGuard("instructions", callId, { readInstructions: { callId, folders: [...folders], all, profiles } });
  }

  preview(callId: string, tool: string, argumentsJson: string): Promise<Previewed> {
    return this.#askGuard("previewed", callId, { preview: { callId, tool, argumentsJson } });
  }

  #askGuard<Answer>(kind: GuardAnswer, callId: string, request: RunnerRequestJson): Promise<Answer> {
    return new Promise((resolve) => {
      this.#guarding.set(`${kind} ${callId}`, resolve);
      this.#send(request);
    });
  }

  #answerGuard(kind: GuardAnswer, callId: string, answer: unknown): void {
    const name = `${kind} ${callId}`;
    this.#guarding.get(name)?.(answer as never);
    this.#guarding.delete(name);
  }

  cancel(callId: string): void {
    this.#send({ cancel: { callId } });
  }

  #send(request: RunnerRequestJson): void {
    if (!this.#socket.destroyed) this.#socket.write(encodeFrame(request));
  }

  #receive(message: JsonValue): void {
    const { response } = fromJson(RunnerResponseSchema, message);
    switch (response.case) {
      case "ready":
        return this.#ready.resolve();
      case "result":
        return this.#result(response.value.callId, response.value.result);
      case "protected":
        return this.#answerGuard("protected", response.value.callId, undefined);
      case "restored":
        return this.#answerGuard("restored", response.value.callId, response.value.changes.map(required));
      case "applied":
        return this.#answerGuard("applied", response.value.callId, response.value.failure);
      case "checkpointed":
        return this.#answerGuard("checkpointed", response.value.callId, response.value.failure);
      case "rewound":
        return this.#answerGuard("rewound", response.value.callId, response.value);
      case "compared":
        return this.#answerGuard("compared", response.value.callId, response.value);
      case "previewed":
        return this.#answerGuard("previewed", response.value.callId, response.value);
      case "instructions":
        return this.#answerGuard("instructions", response.value.callId, response.value);
      default:
        throw new Error("a response without content");
    }
  }

  #result(callId: string, result: ResultMessage | undefined): void {
    const pending = this.#pending.get(callId);
    if (pending === undefined) return;
    if (result === undefined) throw new Error("a result without content");
    this.#pending.delete(callId);
    pending.resolve(bounded(result, Math.round(performance.now() - pending.began)));
  }
}

function bounded(result: ResultMessage, durationMilliseconds: number): ToolResult {
  const isLong = result.content.length > MAXIMUM_CONTENT_CHARACTERS;
  return {
    success: result.success,
    content: isLong ? result.content.slice(0, MAXIMUM_CONTENT_CHARACTERS) : result.content,
    summary: result.summary.slice(0, MAXIMUM_SUMMARY_CHARACTERS).replace(/\s+/g, " "),
    errorCode: result.success ? "" : ERROR_CODES.has(result.errorCode) ? result.errorCode : "internal",
    durationMilliseconds,
    resultBytes: Number(result.resultBytes),
    truncated: result.truncated || isLong,
    exitCode: result.exitCode,
  };
}

function messageOf({ before, after, diff, restored }: ProtectedChange): MessageInitShape<typeof ProtectedChangeSchema> {
  const entry = ({ path, kind, mode, content }: ProtectedEntry) =>
    create(ProtectedEntrySchema, { path, kind, mode, ...(content === undefined ? {} : { content: new Uint8Array(content) }) });
  return { before: entry(before), after: entry(after), diff, restored };
}

function required({ before, after, diff, restored }: ChangeMessage): ProtectedChange {
  if (before === undefined || after === undefined) throw new Error("a change without its two sides");
  return { before, after, diff, restored };
}
