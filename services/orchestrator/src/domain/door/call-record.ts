import { create } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation, ModelAccess } from "@hlvm/identity/delegation";
import type { Log } from "@hlvm/log/create-log";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { UsageSchema, type Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { BudgetExhausted } from "../budget/budget-exhausted.ts";
import type { SettledCall } from "../budget/budget-store.ts";
import { costOfCall, highestCost } from "../budget/cost-of-call.ts";
import { ModelCall } from "../budget/model-call.ts";
import { roomForCall } from "../budget/room-for-call.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import type { DoorCallStore } from "./door-call-store.ts";
import type { ModelCallAudit } from "./door-models.ts";

const TOUCH_MILLISECONDS = 5_000;
const REFUSALS: ReadonlySet<string> = new Set(["model_not_permitted", "budget_exhausted", "price_unknown"]);

/** Who calls, as the edge signed it. */
export interface DoorCaller {
  readonly delegation: Delegation;
  /** The same as it was signed. */
  readonly signed: string;
  readonly access: ModelAccess;
  readonly door: ModelDoor;
  /** Whose model a name without a provider is. */
  readonly provider: string;
}

export interface RecordPorts {
  readonly calls: DoorCallStore;
  /** Called for the very caller. */
  readonly audit: ModelCallAudit;
  readonly log: Log;
  /** How long to go on asking where the database or the audit log is away. */
  readonly serviceMilliseconds: number;
}

/** One call of a door from its beginning to its end, as it is limited by budgets, settled and put on record: once, however it ends. */
export class CallRecord {
  readonly #caller: DoorCaller;
  readonly #ports: RecordPorts;
  readonly #since = performance.now();
  #model: Model | undefined;
  #call: ModelCall | undefined;
  #touching: NodeJS.Timeout | undefined;
  #ended: Promise<void> | undefined;

  constructor(caller: DoorCaller, ports: RecordPorts) {
    this.#caller = caller;
    this.#ports = ports;
  }

  /**
   * Puts the call on record, once all budgets that it counts against have room for it.
   * @throws HlvmError `budget_exhausted`, `price_unknown`
   */
  async begin(model: Model, inputTokens: number, outputTokens: number): Promise<ModelCall> {
    const { calls } = this.#ports;
    const { delegation, access, signed, door } = this.#caller;
    const { organization, id: principal, teams = [] } = delegation.principal;
    const { runId: callId } = delegation;
    this.#model = model;
    const input = BigInt(Math.ceil(inputTokens));
    const seen = { input, output: 0n, cost: highestCost(input, 0n, model, new Date()) };
    const call = { callId, organization, principal, teams, tokenId: access.tokenId, door, model: model.id, delegation: signed, seen };
    const room = await roomForCall({ model, inputTokens, outputTokens }, (least, most) => calls.begin(call, least, most)).catch(
      (thrown: unknown) => {
        throw endedBy(thrown);
      },
    );
    if (this.#ended !== undefined) {
      // Whoever asked went while it was reserved for.
      await calls.settle(callId, undefined);
      throw gone();
    }
    this.#call = new ModelCall({ ...room, model, inputTokens, toolTokens: {}, since: this.#since });
    this.#touching = setInterval(() => void this.#touch(), TOUCH_MILLISECONDS).unref();
    return this.#call;
  }

  /**
   * Settles the call and has it recorded.
   * @param model as it was asked for, where the call never got so far as to have one
   * @param thrown why it failed; undefined where it did not
   * @throws HlvmError where that is not possible
   */
  end(model: string, thrown: unknown, isGone: boolean): Promise<void> {
    this.#ended ??= this.#end(this.#model?.id ?? model, thrown, isGone);
    return this.#ended;
  }

  async #end(model: string, thrown: unknown, isGone: boolean): Promise<void> {
    clearInterval(this.#touching);
    const { calls, audit, serviceMilliseconds } = this.#ports;
    const { delegation, door } = this.#caller;
    const callId = delegation.runId;
    const settled = this.#call?.settle(1);
    const insist = (ask: () => Promise<void>): Promise<void> =>
      retryWhileAway(ask, serviceMilliseconds, AbortSignal.timeout(2 * serviceMilliseconds));
    const reason = thrown === undefined ? "" : thrown instanceof HlvmError ? thrown.reason : "internal";
    const status = isGone ? OutcomeStatus.CANCELLED : statusOf(thrown, this.#call !== undefined);
    const durationMilliseconds = Math.round(performance.now() - this.#since);
    const called = { callId, door, model: model.slice(0, 256), status, reason, durationMilliseconds, ...usedBy(settled) };
    const settling = this.#call === undefined ? undefined : insist(() => calls.settle(callId, settled));
    const ended = await Promise.allSettled([settling, insist(() => audit.recordModelCall(called))]);
    for (const outcome of ended) if (outcome.status === "rejected") throw outcome.reason;
  }

  async #touch(): Promise<void> {
    const usage = this.#call!.usage;
    const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const cost = costOfCall(usage, this.#model!, new Date())?.whole;
    try {
      await this.#ports.calls.touch(this.#caller.delegation.runId, { input, output: usage.outputTokens, cost });
    } catch (cause) {
      this.#ports.log.warn({ err: cause }, "what was seen of a model call was not written down; it is tried again");
    }
  }
}

/** What a program is told of what a call was ended by: a budget that has no room for it, or its time. */
export function endedBy(thrown: unknown): unknown {
  if (thrown instanceof BudgetExhausted) {
    const { message, advice } = thrown;
    return new HlvmError({ code: "resource_exhausted", reason: "budget_exhausted", message, advice, cause: thrown });
  }
  if (!(thrown instanceof DOMException) || thrown.name !== "TimeoutError") return thrown;
  return new HlvmError({
    code: "deadline_exceeded",
    reason: "model_too_slow",
    message: "The model did not finish its answer in the time that a call may take.",
    advice: "Ask for less at once, or take a faster model.",
    cause: thrown,
  });
}

function gone(): HlvmError {
  return new HlvmError({ code: "cancelled", reason: "cancelled", message: "The call was cancelled." });
}

function usedBy(settled: SettledCall | undefined) {
  if (settled === undefined) return { isEstimated: false, cost: 0n };
  const { input, output, cacheRead, cacheWrite, reasoning, cost, isEstimated } = settled;
  const usage = create(UsageSchema, {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  });
  return { usage, isEstimated, cost };
}

function statusOf(thrown: unknown, hasBegun: boolean): OutcomeStatus {
  if (thrown === undefined) return OutcomeStatus.SUCCEEDED;
  if (!(thrown instanceof HlvmError)) return OutcomeStatus.FAILED;
  if (!hasBegun && REFUSALS.has(thrown.reason)) return OutcomeStatus.REFUSED;
  return thrown.code === "deadline_exceeded" ? OutcomeStatus.TIMED_OUT : OutcomeStatus.FAILED;
}
