import type { Budget, BudgetKind, BudgetPeriod, BudgetScope, RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { Lease } from "../log/event-log.ts";
import type { PrefixFacts } from "./prefix-ledger.ts";

/** What a model call counts for, by kind of budget. */
export interface CallAmounts {
  readonly tokens: bigint;
  /** Nano-dollars; undefined where nobody knows the model's price, which no budget of money can hold. */
  readonly money: bigint | undefined;
}

/** What is left for one call in every budget that it counts against. */
export interface Reservation {
  readonly tokens: bigint;
  readonly money: bigint;
  /** Nothing of it is reserved: runs that are at work at the same time use it together. */
  readonly milliseconds: bigint;
  /** The budgets that gave less than was wished for, the one that has least first. */
  readonly limitedBy: readonly Budget[];
}

/** A call that was settled, as its run's log append takes it along. */
export interface SettledCall extends Partial<PrefixFacts> {
  readonly turn: number;
  readonly model: string;
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  readonly reasoning: bigint;
  /** Nano-dollars; undefined where nobody knows the model's price. */
  readonly cost?: bigint;
  readonly inputCost?: bigint;
  /** Its tokens were estimated from what was seen of it. */
  readonly isEstimated: boolean;
  /** Estimated tokens of results that it read first, by tool. */
  readonly toolTokens?: Readonly<Record<string, number>>;
  /** For budgets: input and output, and the time since the run's last call was settled. */
  readonly tokens: bigint;
  readonly milliseconds: number;
}

/** What a child run gets of its parent's budget. A kind that is left out: one of some equal shares of what the parent has left. */
export type CarvedAmounts = Pick<RunBudget, "tokens" | "nanoDollars" | "turns">;

export interface BudgetKey {
  readonly organization: string;
  readonly scope: BudgetScope;
  /** Empty for the organization. */
  readonly subject: string;
  readonly kind: BudgetKind;
  readonly period: BudgetPeriod;
}

/**
 * Budgets of organizations, teams, people, sessions and runs, all of one table. What a call counts against is reserved and
 * settled in all of them or in none, one call after the other: they are never overdrawn by calls that come together.
 */
export interface BudgetStore {
  /**
   * Reserves for one call of a run up to `most`, `least` at least, and a turn. What an earlier call of the run has left behind is
   * given back first. A call is settled by the append that has its end (`Append.settled`).
   * @returns the budget that does not have that much
   * @throws HlvmError `lease_lost`
   */
  reserve(lease: Lease, teams: readonly string[], least: CallAmounts, most: CallAmounts): Promise<Reservation | Budget>;
  /**
   * Takes amounts out of what a run has left and makes them the budget of a child run. Once: given again for the same child,
   * nothing changes. The child's end gives back what it did not use. It is begun with its parent's budget as its run_started's and
   * BegunRun's, which says that it has one, and without one in NewRun: that would be a second one.
   * @param shares of what is left, of which the child gets one; 1: all
   * @returns the parent's budget that does not have that much; undefined where it is done
   */
  carve(parentRunId: string, childRunId: string, amounts: CarvedAmounts, shares?: number): Promise<Budget | undefined>;
  /** Ends a run's budget as its last append does; for a child that never began. Again, nothing changes. */
  giveBack(childRunId: string): Promise<void>;
  /**
   * Those of an organization that are not a run's.
   * @param principal whose own are listed alone, with the organization's and their sessions'; undefined: all
   */
  list(organization: string, principal?: string): Promise<Budget[]>;
  /** @param sessionId of a session's: it goes with the session. @returns it, and whether there was one before */
  put(key: BudgetKey, limit: bigint, sessionId?: string): Promise<{ readonly budget: Budget; readonly existed: boolean }>;
  /** @returns whether there was one */
  remove(key: BudgetKey): Promise<boolean>;
  /** Those for whose runs something besides the runs' own budgets is set. */
  organizationsWithBudgets(): Promise<ReadonlySet<string>>;
}

export function isRefusal(answer: Reservation | Budget): answer is Budget {
  return "scope" in answer;
}
