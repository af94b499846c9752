import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { AskedOfMemory, Memory, Recalled, ToolCall, WorkspaceIdentity } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

/** A run does not wait longer for what it may be reminded of. */
const RECALL_DEADLINE_MILLISECONDS = 3_000;
/** The run is over: nobody waits. */
const RECORD_DEADLINE_MILLISECONDS = 10_000;
const RECORDED_QUESTION_CHARACTERS = 8_000;
const RECORDED_ANSWER_CHARACTERS = 32_000;

/** Memory. */
export class MeshMemory implements Memory {
  readonly #client: Client<typeof MemoryService>;
  readonly #stats: Client<typeof MemoryStatsService>;
  readonly #caller: MeshCaller;
  /** Memory's id for the workspace, once it is known. */
  #project: string | undefined;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#client = createClient(MemoryService, transport);
    this.#stats = createClient(MemoryStatsService, transport);
    this.#caller = caller;
  }

  async registerProject(workspace: string, { origin, rootCommit, madeId }: WorkspaceIdentity, signal: AbortSignal): Promise<void> {
    try {
      const identity = { origin, rootCommit, madeId };
      const { project } = await this.#client.registerProject(
        { workspace, identity },
        this.#caller.options(RECALL_DEADLINE_MILLISECONDS, signal),
      );
      this.#project = project?.projectId;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async recall({ question, workspace, sessionId, runId }: AskedOfMemory, signal: AbortSignal): Promise<Recalled> {
    try {
      const { facts, moreExist, notice } = await this.#client.recall(
        { query: question, project: this.#project ?? workspace, sessionId, runId },
        this.#caller.options(RECALL_DEADLINE_MILLISECONDS, signal),
      );
      return { facts: facts.map((fact) => fact.text), moreExist, notice };
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async recordAnswer({ question, workspace, sessionId, runId }: AskedOfMemory, answer: string): Promise<void> {
    try {
      await this.#stats.recordAnswer(
        {
          sessionId,
          runId,
          project: this.#project ?? workspace,
          question: question.slice(0, RECORDED_QUESTION_CHARACTERS),
          answer: answer.slice(0, RECORDED_ANSWER_CHARACTERS),
        },
        this.#caller.options(RECORD_DEADLINE_MILLISECONDS),
      );
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async execute(call: ToolCall, grant: string, workspace: string, timeoutMilliseconds: number, signal: AbortSignal): Promise<ToolResult> {
    try {
      const { result } = await this.#client.executeTool(
        { call, grant, project: this.#project ?? workspace },
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
