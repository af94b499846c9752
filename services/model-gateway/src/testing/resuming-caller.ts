import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { CallStream } from "@hlvm/call-stream/call-stream";
import {
  GenerateRequestSchema,
  ModelService,
  ResumeRequestSchema,
  Role,
  type GenerateResponse,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";

type Calls = CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

/** A caller of resumable answers whose every step is its test's. */
export class ResumingCaller {
  /** Of the answer that was asked for last. */
  readonly come: GenerateResponse[] = [];
  token = "";
  readonly #transport: () => Transport;
  readonly #bearer: () => string;

  constructor(transport: () => Transport, bearer: () => string) {
    this.#transport = transport;
    this.#bearer = bearer;
  }

  get place() {
    const { sequence = 0n, digest = 0 } = this.come.at(-1) ?? {};
    return { afterSequence: sequence, digest };
  }

  ask(model: string, text: string, signal?: AbortSignal, maxOutputTokens = 0): Promise<void> {
    this.come.length = 0;
    const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: text } }] }];
    const value = create(GenerateRequestSchema, { model, messages, maxOutputTokens, temperature: 0, resumable: true });
    return this.#read({ case: "generate", value }, signal);
  }

  resume(given: { resumeToken?: string; afterSequence?: bigint; digest?: number } = {}, signal?: AbortSignal): Promise<void> {
    const value = create(ResumeRequestSchema, { resumeToken: this.token, ...this.place, ...given });
    return this.#read({ case: "resume", value }, signal);
  }

  /** Resumes until the answer is whole. */
  async resumeToTheEnd(): Promise<void> {
    while (this.come.at(-1)?.event.case !== "finish") {
      await this.resume().catch((thrown: unknown) => {
        if (String(thrown).includes("failed_precondition")) throw thrown;
      });
      await sleep(5);
    }
  }

  async #read(request: StreamCallsRequest["request"], signal?: AbortSignal): Promise<void> {
    const client = createClient(ModelService, this.#transport());
    const calls: Calls = new CallStream(ModelService.method.streamCalls, (requests, token, closing) =>
      client.streamCalls(requests, { headers: { authorization: `Bearer ${token}` }, signal: closing, timeoutMs: 0 }),
    );
    const limits = { token: this.#bearer(), timeoutMilliseconds: 60_000, signal };
    for await (const { case: kind, value } of calls.call(request, limits, ({ value: last }) => isFinish(last))) {
      if (kind !== "generate") continue;
      if (value.resumeToken !== "") this.token = value.resumeToken;
      if (value.sequence !== 0n) this.come.push(value);
    }
  }
}

function isFinish(value: StreamCallsResponse["response"]["value"]): boolean {
  return value !== undefined && "event" in value && value.event.case === "finish";
}
