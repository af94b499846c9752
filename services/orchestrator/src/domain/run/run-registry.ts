import type { Lease } from "../log/event-log.ts";
import type { LeaseState, SessionStore } from "../session/session-store.ts";
import { Interruption } from "./interruption.ts";

const HEARTBEAT_MILLISECONDS = 5_000;
/** An append locks its run's row for some milliseconds. */
const LOCKED_MILLISECONDS = 250;
/** Shorter than a lease by what a tool takes to stop: nothing goes on when somebody else may take the run over. */
const HELD_MILLISECONDS = 13_000;

interface HeldRun {
  readonly lease: Lease;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  expiry: NodeJS.Timeout;
}

/** The runs that this process holds: keeps their leases, passes on who wants them stopped. */
export class RunRegistry {
  readonly #store: SessionStore;
  readonly #runs = new Map<string, HeldRun>();
  readonly #heartbeat: NodeJS.Timeout;
  #isBeating = false;
  /** Why the last renewal failed. */
  #failure: unknown;
  #isClosing = false;

  constructor(store: SessionStore) {
    this.#store = store;
    this.#heartbeat = setInterval(() => void this.#beat([...this.#runs.values()]), HEARTBEAT_MILLISECONDS);
    this.#heartbeat.unref();
  }

  /** Whether the process is on its way out and takes no run any more. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /**
   * Holds a run while `work` goes on.
   * @param takenAt of the monotonic clock, before the lease was asked for
   */
  hold(lease: Lease, takenAt: number, work: (controller: AbortController) => Promise<void>): void {
    const controller = new AbortController();
    const ended = work(controller).finally(() => {
      clearTimeout(this.#runs.get(lease.runId)?.expiry);
      this.#runs.delete(lease.runId);
    });
    this.#runs.set(lease.runId, { lease, controller, ended, expiry: this.#expiryOf(controller, takenAt) });
    if (this.#isClosing) controller.abort(new Interruption("shutdown"));
  }

  /** Stops the run where this process holds it. */
  cancel(runId: string): void {
    this.#runs.get(runId)?.controller.abort(new Interruption("cancelled"));
  }

  /** Stops every run and waits until each has written its end. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const run of this.#runs.values()) run.controller.abort(new Interruption("shutdown"));
    await Promise.allSettled([...this.#runs.values()].map((run) => run.ended));
    clearInterval(this.#heartbeat);
  }

  /** A renewal that fails, or gets no answer, leaves the runs to their expiry. */
  async #beat(held: readonly HeldRun[]): Promise<void> {
    if (held.length === 0 || this.#isBeating) return;
    this.#isBeating = true;
    const takenAt = performance.now();
    try {
      const renewed = await this.#store.renewLeases(held.map((run) => run.lease));
      this.#failure = undefined;
      for (const run of held) this.#renew(run, takenAt, renewed.get(run.lease.runId));
      const locked = held.filter((run) => renewed.get(run.lease.runId)?.isRenewed === false);
      if (locked.length > 0) setTimeout(() => void this.#beat(locked), LOCKED_MILLISECONDS).unref();
    } catch (cause) {
      this.#failure = cause;
    } finally {
      this.#isBeating = false;
    }
  }

  #renew(run: HeldRun, takenAt: number, state: LeaseState | undefined): void {
    if (!this.#runs.has(run.lease.runId)) return;
    if (state === undefined) return run.controller.abort(new Interruption("lease_lost"));
    if (state.isRenewed) {
      clearTimeout(run.expiry);
      run.expiry = this.#expiryOf(run.controller, takenAt);
    }
    if (state.cancelRequested) run.controller.abort(new Interruption("cancelled"));
  }

  #expiryOf(controller: AbortController, takenAt: number): NodeJS.Timeout {
    const expire = (): void => controller.abort(new Interruption("log_unavailable", this.#failure));
    return setTimeout(expire, Math.max(0, takenAt + HELD_MILLISECONDS - performance.now())).unref();
  }
}
