import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { GetReceiptResponse_State as State, SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { serverStream } from "@hlvm/rpc/server-stream";
import type { OpenedWorkspace, Receipt, Sandbox, ToolCall, ToolEvent } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const OPEN_DEADLINE_MILLISECONDS = 30_000;
const DEADLINE_MILLISECONDS = 5_000;

/** The sandbox service. */
export class MeshSandbox implements Sandbox {
  readonly #transport: Transport;
  readonly #client: Client<typeof SandboxService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#transport = transport;
    this.#client = createClient(SandboxService, transport);
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
      const options = this.#caller.options(timeoutMilliseconds, signal);
      for await (const { event } of serverStream(this.#transport, SandboxService.method.execute, { call, grant }, options)) {
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
