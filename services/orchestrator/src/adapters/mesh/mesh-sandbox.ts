import { create } from "@bufbuild/protobuf";
import { createClient, type CallOptions, type Client, type Transport } from "@connectrpc/connect";
import { WORKSPACE_GRANT_HEADER } from "@hlvm/grant/workspace-grant";
import {
  ExecuteRequestSchema,
  GetReceiptResponse_State as State,
  SandboxService,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { CallStream } from "@hlvm/call-stream/call-stream";
import type { SessionReplicas } from "@hlvm/session-replicas/session-replicas";
import { sessionTransport } from "@hlvm/session-replicas/session-transport";
import { turnOfCall } from "../../domain/tools/call-id.ts";
import type {
  CallPreview,
  FoundInstructions,
  OpenedWorkspace,
  Receipt,
  Rewind,
  Rewound,
  Sandbox,
  ToolCall,
  ToolEvent,
  WorkspaceCopy,
} from "../../domain/loop/ports.ts";
import { streamOptions, type MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";
import type { WorkspaceGrants } from "./workspace-grants.ts";

const OPEN_DEADLINE_MILLISECONDS = 30_000;
const DEADLINE_MILLISECONDS = 5_000;
/** A runner may have to be started for it, and that to wait for its turn where many runs begin. */
const INSTRUCTIONS_DEADLINE_MILLISECONDS = 60_000;
const COPY_DEADLINE_MILLISECONDS = 310_000;
const PREVIEW_DEADLINE_MILLISECONDS = 10_000;
const REWIND_DEADLINE_MILLISECONDS = 90_000;

type Calls = CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

/** The sandbox service: each session's calls go to the replica that holds it. */
export class MeshSandbox implements Sandbox {
  /** By replica; a run has one session, which seldom moves. */
  readonly #calls = new Map<Transport, Calls>();
  readonly #replicas: SessionReplicas;
  readonly #client: Client<typeof SandboxService>;
  readonly #caller: MeshCaller;
  readonly #grants: Pick<WorkspaceGrants, "for">;

  constructor(replicas: SessionReplicas, caller: MeshCaller, grants: Pick<WorkspaceGrants, "for">) {
    this.#replicas = replicas;
    this.#grants = grants;
    this.#client = createClient(SandboxService, sessionTransport(replicas));
    this.#caller = caller;
  }

  async openWorkspace(sessionId: string, path: string, signal: AbortSignal): Promise<OpenedWorkspace> {
    try {
      return await this.#client.openWorkspace({ sessionId, path }, await this.#options(sessionId, OPEN_DEADLINE_MILLISECONDS, signal));
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async closeWorkspace(sessionId: string): Promise<void> {
    try {
      await this.#client.closeWorkspace({ sessionId }, await this.#options(sessionId, DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async readInstructions(sessionId: string, folders: readonly string[], signal: AbortSignal): Promise<FoundInstructions> {
    try {
      const options = await this.#options(sessionId, INSTRUCTIONS_DEADLINE_MILLISECONDS, signal);
      const { workspace, files, identity } = await this.#client.readInstructions({ sessionId, folders: [...folders] }, options);
      return {
        workspace,
        identity,
        files: files.map(({ file, sha256 }) => ({ path: file?.path ?? "", text: file?.text ?? "", sha256, refusal: file?.refusal ?? "" })),
      };
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async *execute(call: ToolCall, grant: string, timeoutMilliseconds: number, signal: AbortSignal): AsyncGenerator<ToolEvent, void> {
    const endsAt = performance.now() + timeoutMilliseconds;
    const value = create(ExecuteRequestSchema, { call, grant, turn: turnOfCall(call.callId) });
    const attempt = (replica: Transport) => {
      const limits = this.#caller.limits(Math.max(1, Math.ceil(endsAt - performance.now())), signal);
      return this.#callsTo(replica, granted).call({ case: "execute", value }, limits, isResult);
    };
    let granted: string | undefined;
    try {
      granted = await this.#grants.for(call.sessionId);
      for await (const response of this.#replicas.stream(call.sessionId, attempt, signal)) {
        if (response.case !== "execute") continue;
        const { event } = response.value;
        if (event.case === "output") yield { output: event.value };
        if (event.case === "waiting") yield { waiting: event.value.position };
        if (event.case === "result") yield { result: event.value };
      }
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async copyWorkspace(copy: WorkspaceCopy, signal: AbortSignal): Promise<string> {
    try {
      const options = await this.#options(copy.sessionId, COPY_DEADLINE_MILLISECONDS, signal);
      return (await this.#client.copyWorkspace({ ...copy, turns: [...copy.turns] }, options)).workspace?.path ?? "";
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async rewind(sessionId: string, request: Rewind): Promise<Rewound> {
    try {
      return await this.#client.rewindWorkspace(
        { sessionId, ...request, turns: [...request.turns] },
        await this.#options(sessionId, REWIND_DEADLINE_MILLISECONDS),
      );
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async preview({ sessionId, tool, argumentsJson }: ToolCall, signal: AbortSignal): Promise<CallPreview> {
    try {
      return await this.#client.previewCall(
        { sessionId, tool, argumentsJson },
        await this.#options(sessionId, PREVIEW_DEADLINE_MILLISECONDS, signal),
      );
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async receipt(sessionId: string, callId: string): Promise<Receipt> {
    try {
      const { state, result } = await this.#client.getReceipt({ sessionId, callId }, await this.#options(sessionId, DEADLINE_MILLISECONDS));
      if (state === State.DONE && result !== undefined) return { state: "done", result };
      if (state === State.NEVER_STARTED) return { state: "never_started" };
      return { state: state === State.RUNNING ? "running" : "unknown" };
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async #options(sessionId: string, deadlineMilliseconds: number, signal?: AbortSignal): Promise<CallOptions> {
    const options = this.#caller.options(deadlineMilliseconds, signal);
    return withGrant(options, await this.#grants.for(sessionId));
  }

  /** A run has one workspace, and so one grant. */
  #callsTo(replica: Transport, granted: string | undefined): Calls {
    const known = this.#calls.get(replica);
    if (known !== undefined) return known;
    const client = createClient(SandboxService, replica);
    const calls: Calls = new CallStream(SandboxService.method.streamCalls, (requests, token, signal) =>
      client.streamCalls(requests, withGrant(streamOptions(token, signal), granted)),
    );
    this.#calls.set(replica, calls);
    return calls;
  }
}

function withGrant(options: CallOptions, granted: string | undefined): CallOptions {
  if (granted === undefined) return options;
  const headers = new Headers(options.headers);
  headers.set(WORKSPACE_GRANT_HEADER, granted);
  return { ...options, headers };
}

function isResult(response: StreamCallsResponse["response"]): boolean {
  return response.case === "execute" && response.value.event.case === "result";
}
