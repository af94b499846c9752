import type { Duplex } from "node:stream";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { RunnerRequestJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { RunnerResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { ToolOutput_Stream, type ToolResult as ResultMessage } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolRun } from "../../domain/isolation.ts";
import type { ToolOutput, ToolResult } from "../../domain/tool-event.ts";
import { encodeFrame, FrameDecoder } from "../../../runner/frames.ts";

/** What a runner sends of one call: tools are ended at half of it, so that more is not a tool but an attack. */
const MAXIMUM_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAXIMUM_CONTENT_CHARACTERS = 2 * 1024 * 1024;
const MAXIMUM_SUMMARY_CHARACTERS = 500;
const ERROR_CODES = new Set([
  "",
  "invalid_arguments",
  "not_found",
  "not_readable",
  "outside_workspace",
  "too_large",
  "binary_file",
  "invalid_utf8",
  "no_match",
  "no_space",
  "timeout",
  "cancelled",
  "output_limit",
  "out_of_memory",
  "command_failed",
  "unavailable",
  "internal",
]);

interface Pending {
  readonly began: number;
  readonly onOutput: (output: ToolOutput) => void;
  readonly resolve: (result: ToolResult) => void;
  outputBytes: number;
}

/**
 * Speaks with the runner in a sandbox. What comes from there is data of somebody who may be hostile: it is parsed, bounded,
 * and anything that does not fit the contract ends the connection.
 */
export class RunnerConnection {
  readonly #socket: Duplex;
  readonly #pending = new Map<string, Pending>();
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
  execute(run: ToolRun, onOutput: (output: ToolOutput) => void): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#pending.set(run.callId, { began: performance.now(), onOutput, resolve, outputBytes: 0 });
      this.#send({ execute: { ...run } });
    });
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
      case "output":
        return this.#output(response.value.callId, response.value.output?.stream, response.value.output?.text ?? "");
      case "result":
        return this.#result(response.value.callId, response.value.result);
      default:
        throw new Error("a response without content");
    }
  }

  #output(callId: string, stream: ToolOutput_Stream | undefined, text: string): void {
    const pending = this.#pending.get(callId);
    if (pending === undefined) return;
    pending.outputBytes += Buffer.byteLength(text);
    if (pending.outputBytes > MAXIMUM_OUTPUT_BYTES) throw new Error(`more than ${MAXIMUM_OUTPUT_BYTES} bytes of output`);
    pending.onOutput({ stream: stream === ToolOutput_Stream.STDERR ? "stderr" : "stdout", text });
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
    errorCode: result.success ? "" : ERROR_CODES.has(result.errorCode) && result.errorCode !== "" ? result.errorCode : "internal",
    durationMilliseconds,
    resultBytes: Number(result.resultBytes),
    truncated: result.truncated || isLong,
    exitCode: result.exitCode,
  };
}
