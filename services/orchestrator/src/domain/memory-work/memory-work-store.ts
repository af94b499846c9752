import type { Principal } from "@hlvm/identity/principal";

export type Person = Pick<Principal, "organization" | "id">;

/** Somebody who lets a model look at what memory holds of them. */
export interface AllowedWork {
  /** Until when the delegation lets it. */
  readonly until: Date;
  readonly stored: bigint;
  readonly refused: bigint;
  /** Empty where nothing is in the way. */
  readonly pausedReason: string;
  readonly pausedUntil: Date;
}

export interface NextPerson {
  readonly person: Person;
  /** As the edge signed it. */
  readonly delegation: string;
}

/** Who allows it, whose turn it is, and which replica asks. */
export interface MemoryWorkStore {
  /** @param onlyRenew changes nothing for who has not allowed it before */
  allow(person: Person, grant: { readonly delegation: string; readonly until: Date }, onlyRenew: boolean): Promise<void>;
  end(person: Person): Promise<void>;
  get(person: Person): Promise<AllowedWork | undefined>;
  /** Makes this replica the one that asks, for so long at most. @returns false where another one is, or this minute has had its calls */
  take(callsPerMinute: number, seconds: number): Promise<boolean>;
  giveBack(): Promise<void>;
  /** Counts a call of this minute. */
  countCall(): Promise<void>;
  /** Whose turn it is, once in a while each. */
  next(): Promise<NextPerson | undefined>;
  countAnswer(person: Person, what: "stored" | "refused"): Promise<void>;
  /** @param reason empty where nothing waits */
  pause(person: Person, reason: string, seconds: number): Promise<void>;
}
