import { create } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import {
  ExecuteRequestSchema,
  GetReceiptResponse_State as State,
  SandboxService,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { CallStream } from "@hlvm/rpc/call-stream";
import type { OpenedWorkspace, Receipt, Sandbox, ToolCall, ToolEvent } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const OPEN_DEADLINE_MILLISECONDS = 30_000;
const DEADLINE_MILLISECONDS = 5_000;

/** The sandbox service. */
export class MeshSandbox implements Sandbox {
  readonly #calls: CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;
  readonly #client: Client<typeof SandboxService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    const client = createClient(SandboxService, transport);
    this.#client = client;
    this.#calls = new CallStream(SandboxService.method.streamCalls, (requests, token, signal) =>
      client.streamCalls(requests, caller.stream(token, signal)),
    );
    this.#caller = caller;
  }

  async openWorkspace(sessionId: string, path: string, signal: AbortSignal): Promise<OpenedWorkspace> {
    try {
      return await this.#client.openWorkspace({ sessionId, path }, this.#caller.options(OPEN_DEADLINE_MILLISECONDS, signal));
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async closeWorkspace(sessionId: string): Promise<void> {
    try {
      await this.#client.closeWorkspace({ sessionId }, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async *execute(call: ToolCall, grant: string, timeoutMilliseconds: number, signal: AbortSignal): AsyncGenerator<ToolEvent, void> {
    try {
      const value = create(ExecuteRequestSchema, { call, grant });
      for await (const response of this.#calls.call(
        { case: "execute", value },
        this.#caller.limits(timeoutMilliseconds, signal),
        isResult,
      )) {
        if (response.case !== "execute") continue;
        const { event } = response.value;
        if (event.case === "output") yield { output: event.value };
        if (event.case === "result") yield { result: event.value };
      }
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async receipt(sessionId: string, callId: string): Promise<Receipt> {
    try {
      const { state, result } = await this.#client.getReceipt({ sessionId, callId }, this.#caller.options(DEADLINE_MILLISECONDS));
      if (state === State.DONE && result !== undefined) return { state: "done", result };
      if (state === State.NEVER_STARTED) return { state: "never_started" };
      return { state: state === State.RUNNING ? "running" : "unknown" };
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}

function isResult(response: StreamCallsResponse["response"]): boolean {
  return response.case === "execute" && response.value.event.case === "result";
}
