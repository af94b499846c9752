import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Memory, Recalled, ToolCall } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

/** A run does not wait longer for what it may be reminded of. */
const RECALL_DEADLINE_MILLISECONDS = 3_000;

/** Memory. */
export class MeshMemory implements Memory {
  readonly #client: Client<typeof MemoryService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#client = createClient(MemoryService, transport);
    this.#caller = caller;
  }

  async recall(query: string, workspace: string, signal: AbortSignal): Promise<Recalled> {
    try {
      const { facts, moreExist, notice } = await this.#client.recall(
        { query, project: workspace },
        this.#caller.options(RECALL_DEADLINE_MILLISECONDS, signal),
      );
      return { facts: facts.map((fact) => fact.text), moreExist, notice };
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async execute(call: ToolCall, grant: string, workspace: string, timeoutMilliseconds: number, signal: AbortSignal): Promise<ToolResult> {
    try {
      const { result } = await this.#client.executeTool(
        { call, grant, project: workspace },
        this.#caller.options(timeoutMilliseconds, signal),
      );
      if (result === undefined)
        throw new HlvmError({ code: "internal", reason: "result_missing", message: "Memory answered without a result." });
      return result;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }
}
