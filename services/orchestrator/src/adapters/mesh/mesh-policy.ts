import { create } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DecideRequestSchema, PolicyService, type ApprovalPreview, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { AttestedCall, CallPreview, Decided, ImaginedCall, Policy, ToolCall } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";
import { outcomeMessage } from "./outcome-message.ts";
import type { PolicyCalls } from "./policy-calls.ts";

const DECIDE_DEADLINE_MILLISECONDS = 10_000;
const WITHDRAW_DEADLINE_MILLISECONDS = 5_000;
/** One look at an approval; the loop looks again until it expires. */
const AWAIT_DEADLINE_MILLISECONDS = 60_000;

/** Policy. */
export class MeshPolicy implements Policy {
  readonly #client: Client<typeof PolicyService>;
  readonly #calls: PolicyCalls;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, calls: PolicyCalls, caller: MeshCaller) {
    this.#calls = calls;
    this.#client = createClient(PolicyService, transport);
    this.#caller = caller;
  }

  async decide(call: ToolCall, { floor, repeats, ended = [] }: AttestedCall, signal: AbortSignal): Promise<Decided> {
    try {
      const value = create(DecideRequestSchema, { call, trustFloor: floor, repeatsCallId: repeats });
      const request = { case: "decide", value, endedCalls: ended.map(outcomeMessage) } as const;
      const response = await this.#calls.ask(request, this.#caller.limits(DECIDE_DEADLINE_MILLISECONDS, signal));
      const verdict = required(response.case === "decide" ? response.value.verdict : undefined);
      return { verdict, recordedCallIds: response.recordedCallIds };
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async awaitApproval(approvalId: string, signal: AbortSignal): Promise<Verdict | undefined> {
    try {
      const { verdict } = await this.#client.awaitApproval({ approvalId }, this.#caller.options(AWAIT_DEADLINE_MILLISECONDS, signal));
      return required(verdict);
    } catch (thrown) {
      const error = meshError(thrown, signal);
      // Policy notices the deadline too, and may be the first to say so.
      if (error.code === "deadline_exceeded" || error.reason === "connection_lost") return undefined;
      throw error;
    }
  }

  async judge(calls: readonly ImaginedCall[], signal: AbortSignal): Promise<readonly Verdict[]> {
    try {
      return (await this.#client.judgeCalls({ calls: [...calls] }, this.#caller.options(DECIDE_DEADLINE_MILLISECONDS, signal))).verdicts;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async attachPreview(approvalId: string, preview: CallPreview, signal: AbortSignal): Promise<ApprovalPreview | undefined> {
    try {
      return (await this.#client.attachPreview({ approvalId, ...preview }, this.#caller.options(DECIDE_DEADLINE_MILLISECONDS, signal)))
        .preview;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async withdrawApprovals(runId: string): Promise<void> {
    try {
      await this.#client.withdrawApprovals({ runId }, this.#caller.options(WITHDRAW_DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}

function required(verdict: Verdict | undefined): Verdict {
  if (verdict === undefined)
    throw new HlvmError({ code: "internal", reason: "verdict_missing", message: "Policy answered without a verdict." });
  return verdict;
}
