import type { Lease } from "../log/event-log.ts";
import type { SessionStore } from "../session/session-store.ts";
import { Interruption } from "./interruption.ts";

const HEARTBEAT_MILLISECONDS = 5_000;
const LEASE_MILLISECONDS = 15_000;

interface HeldRun {
  readonly lease: Lease;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  heldUntil: number;
}

/** The runs that this process holds: keeps their leases, passes on who wants them stopped. */
export class RunRegistry {
  readonly #store: SessionStore;
  readonly #runs = new Map<string, HeldRun>();
  readonly #sessions = new Set<string>();
  readonly #heartbeat: NodeJS.Timeout;
  #isBeating = false;
  #isClosing = false;

  constructor(store: SessionStore) {
    this.#store = store;
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MILLISECONDS);
    this.#heartbeat.unref();
  }

  /** Whether the process is on its way out and takes no run any more. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Holds a run while `work` goes on; the lease was just taken. */
  hold(lease: Lease, work: (controller: AbortController) => Promise<void>): void {
    const controller = new AbortController();
    const ended = work(controller).finally(() => {
      this.#runs.delete(lease.runId);
      this.#sessions.delete(lease.sessionId);
    });
    this.#sessions.add(lease.sessionId);
    this.#runs.set(lease.runId, { lease, controller, ended, heldUntil: performance.now() + LEASE_MILLISECONDS });
    if (this.#isClosing) controller.abort(new Interruption("shutdown"));
  }

  /** Whether a run of that session is held here. */
  holds(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
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

  async #beat(): Promise<void> {
    const held = [...this.#runs.values()];
    if (held.length === 0 || this.#isBeating) return;
    this.#isBeating = true;
    const began = performance.now();
    try {
      const renewed = await this.#store.renewLeases(held.map((run) => run.lease));
      for (const run of held) {
        const state = renewed.get(run.lease.runId);
        if (state === undefined) run.controller.abort(new Interruption("lease_lost"));
        else run.heldUntil = began + LEASE_MILLISECONDS;
        if (state?.cancelRequested === true) run.controller.abort(new Interruption("cancelled"));
      }
    } catch (cause) {
      for (const run of held)
        if (performance.now() + HEARTBEAT_MILLISECONDS > run.heldUntil) run.controller.abort(new Interruption("log_unavailable", cause));
    } finally {
      this.#isBeating = false;
    }
  }
}
