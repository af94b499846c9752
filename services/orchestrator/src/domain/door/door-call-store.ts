import type { Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { CallAmounts, Reservation, SettledCall } from "../budget/budget-store.ts";

/** A call that belongs to no run. */
export interface DoorCall {
  readonly callId: string;
  readonly organization: string;
  readonly principal: string;
  readonly teams: readonly string[];
  /** Empty where a person's login calls. */
  readonly tokenId: string;
  readonly door: ModelDoor;
  readonly model: string;
  /** As the edge signed it. */
  readonly delegation: string;
  readonly seen: SeenOfCall;
}

/** A call whose process ended. */
export interface LostCall extends Pick<DoorCall, "callId" | "door" | "model" | "delegation" | "seen"> {
  readonly milliseconds: number;
}

/** What a call would be charged for if its process ended now. */
export interface SeenOfCall {
  readonly input: bigint;
  readonly output: bigint;
  /** Nano-dollars; undefined where nobody knows the model's price. */
  readonly cost?: bigint;
}

/** Where calls without a run are put on record, limited by budgets and settled. */
export interface DoorCallStore {
  /** Reserves `most` of every budget that counts, `least` at least, and puts the call on record. @returns the budget that has not that much */
  begin(call: DoorCall, least: CallAmounts, most: CallAmounts): Promise<Reservation | Budget>;
  /** It goes on; without this it is taken for lost after a while. */
  touch(callId: string, seen: SeenOfCall): Promise<void>;
  /** Once. @param settled undefined: nothing came of it, and nobody is charged */
  settle(callId: string, settled: SettledCall | undefined): Promise<void>;
  /** One whose process ended, for this one to settle; undefined where there is none. */
  claimLost(): Promise<LostCall | undefined>;
}
