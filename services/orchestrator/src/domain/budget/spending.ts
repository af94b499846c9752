import { create } from "@bufbuild/protobuf";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CostSchema, type Budget, type Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { genAi } from "@hlvm/telemetry/gen-ai-names";
import { counter } from "@hlvm/telemetry/instrument";
import type { EventPayload } from "../log/event-payload.ts";
import type { Lease } from "../log/event-log.ts";
import type { RunJournal } from "../log/run-journal.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import { isLeaseLost } from "../run/lease-lost.ts";
import { Interruption } from "../run/interruption.ts";
import type { BudgetStore, Reservation, SettledCall } from "./budget-store.ts";
import { ModelCall } from "./model-call.ts";
import { PrefixLedger } from "./prefix-ledger.ts";
import { roomForCall } from "./room-for-call.ts";

const countCost = counter("hlvm.model.cost", "What model calls cost, as far as their prices are known.", "USD");

export interface SpendingOptions {
  readonly budgets: Pick<BudgetStore, "reserve">;
  /** Whether anything limits this run, as far as is known now: else nobody is asked. */
  readonly isLimited: () => boolean;
  readonly lease: Lease;
  readonly teams: readonly string[];
  readonly model: Model;
  /** Of a run that another process held before. */
  readonly past?: Cost;
  /** How long to go on asking where the database is away. */
  readonly serviceMilliseconds: number;
}

/** What a run may still spend and what it has spent: every model call is begun and settled here. */
export class Spending {
  readonly #options: SpendingOptions;
  /** Of the whole run. */
  cost: Cost;
  /** Of the calls of the run's conversation. */
  readonly prefixes: PrefixLedger;
  #settling: Promise<unknown> = Promise.resolve();
  /** When the run's last call was settled; time since then is the next one's. */
  #since = performance.now();
  #toolTokens: Record<string, number> = {};

  constructor(options: SpendingOptions) {
    this.#options = options;
    this.cost = options.past ?? create(CostSchema);
    this.prefixes = new PrefixLedger(options.model);
  }

  /** Notes what a tool's result will take of the next call's input. */
  addResult(tool: string, tokens: number): void {
    this.#toolTokens[tool] = (this.#toolTokens[tool] ?? 0) + tokens;
  }

  /**
   * Begins a model call, once everything that limits it has room for it: for its input and for as much output as there is room.
   * @throws BudgetExhausted, HlvmError `price_unknown`
   */
  async begin(inputTokens: number, outputTokens: number, signal: AbortSignal): Promise<ModelCall> {
    const { model } = this.#options;
    const toolTokens = this.#toolTokens;
    const limit = this.#options.isLimited() ? await this.#reserve(inputTokens, outputTokens, signal) : { outputTokens };
    return new ModelCall({ ...limit, model, inputTokens, toolTokens, since: this.#since });
  }

  /** Appends a call's end: it is settled with these entries, once. */
  settle(call: ModelCall, turn: number, journal: RunJournal, entries: () => readonly EventPayload[]): Promise<void> {
    const settled = call.settle(turn);
    this.#since = performance.now();
    if (settled !== undefined) this.#count(settled);
    const appended = journal.appendSettled(turn, settled === undefined ? [] : [settled], ...entries());
    this.#settling = appended.catch(() => undefined);
    return appended;
  }

  #count({ cost, model }: SettledCall): void {
    this.#toolTokens = {};
    const { nanoDollars, unpricedCalls } = this.cost;
    this.cost = create(CostSchema, {
      nanoDollars: nanoDollars + (cost ?? 0n),
      unpricedCalls: unpricedCalls + (cost === undefined ? 1 : 0),
    });
    if (cost !== undefined && cost > 0n) countCost(Number(cost) / 1e9, { [genAi.requestModel]: model });
  }

  async #reserve(inputTokens: number, outputTokens: number, signal: AbortSignal): Promise<{ outputTokens: number; limit?: Reservation }> {
    const { budgets, lease, teams, model, serviceMilliseconds } = this.#options;
    // What was reserved for the call before is given back with its end.
    await this.#settling;
    return roomForCall({ model, inputTokens, outputTokens }, async (least, most) => {
      const ask = (): Promise<Reservation | Budget> => budgets.reserve(lease, teams, least, most);
      return retryWhileAway(ask, serviceMilliseconds, signal).catch((cause: unknown) => {
        throw isLeaseLost(cause) ? new Interruption("lease_lost", cause) : cause;
      });
    });
  }
}
