import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Enforcement, Grant } from "@hlvm/grant/grant";
import type { GrantedCall } from "@hlvm/grant/grant-gate";
import type { Principal } from "@hlvm/identity/principal";
import { checkArguments } from "@hlvm/tools/check-arguments";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { Owner } from "./receipts.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import type { ToolEvent, ToolResult } from "./tool-event.ts";

/** The longest that a call waits for room, whatever its deadline. */
const MAXIMUM_WAIT_MILLISECONDS = 15 * 60 * 1_000;
/** Of the deadline, for the end of the call to be told. */
const MARGIN_MILLISECONDS = 1_000;

/** A tool call as it was asked for, with the grant that came along. */
export interface RequestedCall {
  readonly sessionId: string;
  /** Whose workspace it is: who calls, or who shared the session with them. */
  readonly owner: Owner;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  readonly definitionHash: string;
  readonly grant: string;
  /** 0: the tool's own limit. */
  readonly timeoutMilliseconds: number;
  /** The turn of its run; 0: no checkpoint is made for it. */
  readonly turn: number;
  /** What is left of the caller's deadline; undefined where it set none. */
  readonly remainingMilliseconds: number | undefined;
}

/** Lets a call through once, and only with a grant that was signed for exactly that call. */
export interface Gate {
  /** Looks at a grant without using it up. @throws HlvmError `grant_refused` */
  readonly verify: (token: string, call: GrantedCall) => Grant;
  /** @throws HlvmError `grant_refused` */
  readonly use: (grant: Grant) => Enforcement;
  /** The call did not start after all: its grant can be used again while it lasts. */
  readonly giveBack: (grant: Grant) => void;
}

/** Runs tool calls: nothing without a grant that fits the very bytes that run, and nothing twice. A call that is sent again is joined. */
export class ToolExecutor {
  readonly #sessions: Sessions;
  readonly #gate: Gate;

  constructor(sessions: Sessions, gate: Gate) {
    this.#sessions = sessions;
    this.#gate = gate;
  }

  /**
   * Where the machine has no room for the session's sandbox the call waits, its grant taken but not expiring.
   * @throws HlvmError where the tool did not start: `session_not_found`, `sandbox_moved`, `sandbox_draining`, `tool_unknown`,
   * `definition_changed`, `invalid_arguments`, `grant_refused`, `call_in_doubt`, `too_many_sandboxes`, `sandbox_not_started`, …
   */
  async *execute(principal: Principal, call: RequestedCall, signal: AbortSignal): AsyncGenerator<ToolEvent, void> {
    const session = await this.#sessions.get(call.owner, call.sessionId);
    const tool = knownTool(call);
    const given = canonicalArguments(call.argumentsJson);
    checkArguments(tool, given.value);

    const { sessionId, runId, callId } = call;
    const { organization, id } = principal;
    const named = { organization, principal: id, sessionId, runId, callId, tool: tool.name, definitionHash: definitionHash(tool) };
    const granted = { ...named, argumentsHash: given.hash };
    // What a call came to is for those alone who may run it.
    const grant = this.#gate.verify(call.grant, granted);
    const fingerprint = `${tool.name} ${given.hash}`;
    const known = await this.#begunBefore(session, callId, fingerprint, signal);
    if (known !== undefined) {
      yield { kind: "result", result: known };
      return;
    }

    const enforcement = this.#gate.use(grant);
    const timeoutMilliseconds = Math.min(call.timeoutMilliseconds || enforcement.timeoutMilliseconds, enforcement.timeoutMilliseconds);
    const checkpoint = call.turn === 0 ? "" : `${runId}/${call.turn}`;
    const waitMilliseconds = waitFor(timeoutMilliseconds, call.remainingMilliseconds);
    const run = { runId, callId, tool: tool.name, argumentsJson: given.json, fingerprint, timeoutMilliseconds, enforcement, checkpoint };
    try {
      yield* session.run({ ...run, waitMilliseconds }, signal);
    } catch (thrown) {
      this.#gate.giveBack(grant);
      // Somebody else sent the same call meanwhile.
      const isTwin = thrown instanceof HlvmError && thrown.reason === "call_already_started";
      const result = isTwin ? await this.#begunBefore(session, callId, fingerprint, signal) : undefined;
      if (result === undefined) throw thrown;
      yield { kind: "result", result };
    }
  }

  /**
   * What a call came to that was begun before; one that still runs is waited for.
   * @returns undefined where it was not
   * @throws HlvmError `call_in_doubt` where its end was not seen, `call_id_reused`
   */
  async #begunBefore(session: Session, callId: string, fingerprint: string, signal: AbortSignal): Promise<ToolResult | undefined> {
    let receipt = await session.receipts.find(callId, fingerprint);
    if (receipt.state === "running" && (await session.join(callId, signal))) receipt = await session.receipts.find(callId, fingerprint);
    if (receipt.state === "done") return receipt.result;
    if (receipt.state === "never_started") return undefined;
    throw inDoubt(callId);
  }
}

/** So long that the tool's own time still fits into the caller's deadline. */
function waitFor(timeoutMilliseconds: number, remainingMilliseconds = Number.POSITIVE_INFINITY): number {
  return Math.max(0, Math.min(MAXIMUM_WAIT_MILLISECONDS, remainingMilliseconds - timeoutMilliseconds - MARGIN_MILLISECONDS));
}

function knownTool(call: RequestedCall): ToolDefinition {
  const tool = findNativeTool(call.tool);
  if (tool === undefined || tool.executor !== "sandbox")
    throw new HlvmError({
      code: "not_found",
      reason: "tool_unknown",
      message: `The sandbox has no tool ${call.tool}.`,
      advice: "Use a tool of the list that the model was given.",
    });
  if (definitionHash(tool) !== call.definitionHash)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "definition_changed",
      message: `The definition of ${call.tool} is not the one that the caller knows.`,
      advice: "Run the same version of every service.",
    });
  return tool;
}

function inDoubt(callId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "call_in_doubt",
    message: `The call ${callId} was started before and its end was not seen.`,
    advice: "Look at the workspace, then decide with a new call.",
  });
}
