import { create } from "@bufbuild/protobuf";
import { createClient, type CallOptions, type Client, type Transport } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import type { Log } from "@hlvm/log/create-log";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService, StartRunRequestSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { serverStream } from "@hlvm/transport/server-stream";
import type { ChatRequest } from "../domain/chat-request.ts";
import type { Runs, StartedRun } from "../domain/chat.ts";
import type { DelegateRun } from "../domain/delegate-run.ts";
import type { Backend } from "../rpc/backends.ts";
import { passedOnError } from "../rpc/passed-on-error.ts";

const CALL_DEADLINE_MILLISECONDS = 15_000;
const NO_DEADLINE = 0;

/** In these modes somebody may be asked: the answer comes through `PolicyService.AnswerApproval`. */
const ASKING: ReadonlySet<PermissionModeName> = new Set(["default", "plan"]);

export interface RunsParts {
  readonly orchestrator: Backend;
  readonly minter: TokenMinter;
  readonly delegate: DelegateRun;
  readonly log: Log;
}

/** One person's runs at the orchestrator. */
export class OrchestratorRuns implements Runs {
  readonly #transport: Transport;
  readonly #client: Client<typeof SessionService>;
  readonly #principal: Principal;
  readonly #parts: RunsParts;

  constructor(parts: RunsParts, principal: Principal) {
    const { transport } = parts.orchestrator;
    this.#transport = transport;
    this.#client = createClient(SessionService, transport);
    this.#principal = principal;
    this.#parts = parts;
  }

  async start(request: ChatRequest): Promise<StartedRun> {
    const signal = AbortSignal.timeout(CALL_DEADLINE_MILLISECONDS);
    const asked = create(StartRunRequestSchema, {
      prompt: request.prompt,
      model: request.model,
      sessionId: request.sessionId,
      workspace: request.workspace,
      stateless: request.stateless,
      settings: {
        mode: permissionModeOf(request.permissionMode),
        canAsk: ASKING.has(request.permissionMode),
        allowedTools: [...request.allowedTools],
        disallowedTools: [...request.disallowedTools],
      },
    });
    try {
      const delegated = await this.#parts.delegate(this.#principal, asked);
      return await this.#client.startRun(delegated, this.#options(signal, CALL_DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw fromConnectError(passedOnError(thrown, "orchestrator", signal));
    }
  }

  async *watch(sessionId: string, fromSequence: bigint, signal: AbortSignal): AsyncGenerator<Event, void> {
    try {
      const options = this.#options(signal, NO_DEADLINE);
      const request = { sessionId, fromSequence, follow: true };
      for await (const { events } of serverStream(this.#transport, SessionService.method.watch, request, options)) yield* events;
    } catch (thrown) {
      throw fromConnectError(passedOnError(thrown, "orchestrator", signal));
    }
  }

  /** Never throws: whoever cancels is leaving. */
  async cancel({ sessionId, runId }: StartedRun): Promise<void> {
    try {
      await this.#client.cancelRun(
        { sessionId, runId },
        this.#options(AbortSignal.timeout(CALL_DEADLINE_MILLISECONDS), CALL_DEADLINE_MILLISECONDS),
      );
    } catch (cause) {
      this.#parts.log.warn({ err: cause, sessionId, runId }, "a run whose client went away could not be cancelled");
    }
  }

  #options(signal: AbortSignal, timeoutMilliseconds: number): CallOptions {
    const { minter, orchestrator } = this.#parts;
    return outgoing({
      token: minter.mint(this.#principal, orchestrator.name),
      signal,
      remainingMilliseconds: () => timeoutMilliseconds,
    });
  }
}
