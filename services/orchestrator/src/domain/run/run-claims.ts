import type { Lease } from "../log/event-log.ts";
import type { Session } from "../session/session.ts";

/** A run that nobody held any more, claimed to be gone on with. */
export interface ClaimedRun {
  readonly lease: Lease;
  readonly session: Session;
  readonly principal: string;
  /** As the edge signed it; absent where the run began before runs had one. */
  readonly delegation?: string;
  /** Events that it has appended. */
  readonly appended: number;
  /** The last turn of which the log has anything. */
  readonly turn: number;
  /** How long ago it began. */
  readonly ageMilliseconds: number;
  readonly cancelRequested: boolean;
  /** Whether it was claimed because what it waited for may have come, and not because its process ended. */
  readonly wasParked: boolean;
  /** Whether it has only waited for room, and begins now. */
  readonly wasQueued: boolean;
  /** How often it was claimed, now included, without having come any further since the first of these claims. */
  readonly fruitlessClaims: number;
}

/**
 * Which process holds which run. A process has one lease for all of its runs; a run belongs to whoever claimed it last, which
 * every append checks: who has lost a run cannot write into its log, whatever it believes of its lease.
 */
export interface RunClaims {
  /**
   * Prolongs the lease of this process.
   * @returns those of the runs that it still holds, by their ids, and whether somebody wants them cancelled
   */
  renew(held: readonly Lease[]): Promise<ReadonlyMap<string, { readonly cancelRequested: boolean }>>;
  /**
   * Claims runs whose process has lost its lease or has released them, and those of this process that it knows nothing of
   * and that did not begin just now; at most 20, the oldest first.
   * @param known ids of the runs that this process holds or is beginning
   * @param room for how many more it has room; without any it claims what needs none: workers, whose parents wait for them in a
   * place of their own, and what somebody wants cancelled
   */
  claim(known: readonly string[], room: number): Promise<ClaimedRun[]>;
  /** Lets another process claim the run at once; where it was claimed already, nothing happens. */
  release(lease: Lease): Promise<void>;
  /** Lets nobody claim the run before this time, unless it is woken or somebody wants it cancelled. */
  park(lease: Lease, until: Date): Promise<void>;
  /** Keeps what a run may do from now on. @returns false where this claim was lost, or the run is not of that organization */
  delegate(lease: Lease, delegation: string, organization: string): Promise<boolean>;
  /** Lets parked runs be claimed. @returns how many there were */
  wake(runIds: readonly string[]): Promise<number>;
  /** Ends this process's lease. */
  leave(): Promise<void>;
  /** Forgets processes that have been gone for long. */
  forgetGone(): Promise<void>;
}
