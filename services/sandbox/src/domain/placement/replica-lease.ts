import { setTimeout as wait } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import { leaseLost, LeaseTerm } from "./lease-term.ts";

/** A replica that cannot be asked is one that others may replace after this long. */
export const LEASE_MILLISECONDS = 4_000;
/** Where there are no others it is held longer, so that a database that is away for some seconds ends nothing. */
export const LONE_LEASE_MILLISECONDS = 60_000;
const HEARTBEAT_MILLISECONDS = 1_000;
/** A renewal that hangs in the network does not keep the next one from being sent. */
const MAXIMUM_UNANSWERED = 3;

/** A service that ends does not wait longer for a database that does not answer. */
const RELEASE_MILLISECONDS = 1_000;

/** Where the leases of all replicas are. */
export interface LeaseStore {
  /** Takes the name, also from an earlier process that still has a lease. @returns for how many milliseconds @param address the URL of this replica */
  readonly register: (address: string) => Promise<number>;
  /**
   * @param knowsOthers whether this process counts on the short lease already. Until it does, the one that it may still count on
   *   is not made shorter: the answer that tells of other replicas may be lost
   * @returns for how many milliseconds; undefined where another process has taken the name meanwhile, or this one has released it
   */
  readonly renew: (knowsOthers: boolean) => Promise<number | undefined>;
  /** Ends the lease, so that others take the sessions over at once. */
  readonly release: () => Promise<void>;
}

/** This replica's lease, which stands for all its sessions: without it nothing runs here. */
export class ReplicaLease {
  readonly #store: LeaseStore;
  readonly #log: Log;
  /** Absent before the first, and from the loss of one until what ran in it has ended. */
  #term: LeaseTerm | undefined;
  #onLost: () => Promise<void> = () => Promise.resolve();
  #losing: Promise<void> | undefined;
  #unanswered = 0;
  /** Of the latest renewal that was answered. */
  #sentAt = 0;
  #milliseconds = 0;
  #isReplaced = false;
  #isReleased = false;
  #isFailing = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;

  constructor(store: LeaseStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** @param listener ends what runs; a new term begins when it has */
  onLost(listener: () => Promise<void>): void {
    this.#onLost = listener;
  }

  /** @throws HlvmError `database_unreachable` */
  async start(address: string): Promise<void> {
    const sentAt = performance.now();
    this.#renewed(sentAt, await this.#store.register(address));
    this.#heartbeat = setInterval(() => void this.#renew(), HEARTBEAT_MILLISECONDS).unref();
  }

  /** The term that is under way. @throws HlvmError `sandbox_lease_lost`, `replica_replaced` */
  get term(): LeaseTerm {
    if (this.#isReplaced) throw replaced();
    if (this.#term?.isHeld !== true) throw leaseLost();
    return this.#term;
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#expiry);
    this.#term?.end();
    if (this.#isReplaced) return;
    const released = this.#store
      .release()
      .catch((cause: unknown) => this.#log.warn({ err: cause }, "the lease was not released; it runs out"));
    await Promise.race([released, wait(RELEASE_MILLISECONDS, undefined, { ref: false })]);
  }

  async #renew(): Promise<void> {
    if (this.#unanswered >= MAXIMUM_UNANSWERED || this.#losing !== undefined || this.#isReplaced || this.#isReleased) return;
    const sentAt = performance.now();
    this.#unanswered++;
    try {
      const milliseconds = await this.#store.renew(this.#milliseconds <= LEASE_MILLISECONDS);
      if (this.#isReleased) return;
      if (milliseconds === undefined) this.#replace();
      else this.#renewed(sentAt, milliseconds);
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#log.warn({ err: cause }, "the lease of this replica could not be renewed; it is tried again");
      this.#isFailing = true;
    } finally {
      this.#unanswered--;
    }
  }

  /**
   * The database counts from when it got the statement, which is later: it never ends a lease before this process does. An
   * answer that comes after a later one's may make the lease shorter, and never longer.
   */
  #renewed(sentAt: number, milliseconds: number): void {
    this.#endIfOver();
    const until = sentAt + milliseconds;
    if (this.#losing !== undefined || until <= performance.now()) return;
    if (sentAt < this.#sentAt && milliseconds > this.#milliseconds) return;
    this.#term ??= new LeaseTerm(until);
    if (milliseconds < this.#milliseconds) this.#term.limit(until);
    else this.#term.extend(until);
    this.#sentAt = Math.max(this.#sentAt, sentAt);
    this.#milliseconds = milliseconds;
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => this.#endIfOver(), this.#term.until - performance.now()).unref();
  }

  #endIfOver(): void {
    if (this.#term?.isHeld === false) this.#lose();
  }

  #replace(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#expiry);
    this.#isReplaced = true;
    this.#log.error("another process has registered under this replica's name: this one runs nothing any more");
    this.#lose();
  }

  #lose(): void {
    if (this.#losing !== undefined) return;
    this.#term?.end();
    this.#term = undefined;
    this.#losing = this.#onLost()
      .catch((cause: unknown) => this.#log.error({ err: cause }, "sandboxes could not be ended after the lease was lost"))
      .finally(() => {
        this.#losing = undefined;
        void this.#renew();
      });
  }
}

function replaced(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "replica_replaced",
    message: "Another process serves under the name of this replica of the sandbox service.",
    advice: "Give each replica a name of its own (HLVM_REPLICA_NAME), then start this one again.",
  });
}
