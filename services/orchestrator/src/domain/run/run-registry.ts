import { setTimeout as sleep } from "node:timers/promises";
import type { Lease } from "../log/event-log.ts";
import { Interruption } from "./interruption.ts";
import type { ClaimedRun, RunClaims } from "./run-claims.ts";
import type { RunQueue } from "./run-queue.ts";

/** For what is under way when the process ends, an answer or a call, to come to its end; then the next process sees to it. */
const STEP_MILLISECONDS = 4_000;
const MAXIMUM_DISOWNED = 1_000;

interface HeldRun {
  readonly lease: Lease;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export interface RunRegistryPorts {
  readonly claims: RunClaims;
  readonly queue: RunQueue;
  /** Runs that this process holds at a time. */
  readonly maximum: number;
  /** Called when a run has ended and others wait. */
  readonly onRoom: () => void;
}

/**
 * The runs that this process holds, as many as it has room for: keeps its lease, passes on who wants them stopped, and hands
 * them over when it ends.
 */
export class RunRegistry {
  readonly #ports: RunRegistryPorts;
  readonly #runs = new Map<string, HeldRun>();
  /** Runs that may be in the log already, and are not held yet. */
  readonly #beginning = new Set<string>();
  /** How many of them wait then, and are not held. */
  #queueing = 0;
  /** In the queue of all processes, as last heard. */
  #queued = 0;
  /** Runs whose beginning failed: whether they are in the log is not known. */
  readonly #disowned = new Set<string>();
  readonly #draining = new AbortController();

  constructor(ports: RunRegistryPorts) {
    this.#ports = ports;
  }

  /** How many runs wait for room, here and elsewhere, as last heard. */
  get queued(): number {
    return this.#queued;
  }

  /** Whether a run that begins now has to wait: this process has no room, or others wait already. */
  get isFull(): boolean {
    return this.#queued > 0 || this.#room <= 0;
  }

  get #room(): number {
    return this.#ports.maximum - this.#runs.size - (this.#beginning.size - this.#queueing);
  }

  /** Aborted with an Interruption when the process is on its way out: it takes no run any more, and hands over those it has. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** Has the run begun and then holds it; where beginning it fails, it is cancelled should it turn up in the log after all. */
  async begin(lease: Lease, begin: () => Promise<void>, work: (controller: AbortController) => Promise<void>): Promise<void> {
    await this.#begin(lease.runId, async () => {
      await begin();
      this.#hold(lease, work);
    });
  }

  /** Has the run begun, which then waits until some process has room for it. */
  async beginQueued(lease: Lease, begin: () => Promise<void>): Promise<void> {
    this.#queueing++;
    try {
      await this.#begin(lease.runId, async () => {
        await begin();
        // Where that fails, the run is one that this process knows nothing of, and is claimed as such.
        await this.#ports.queue.put(lease).catch(() => undefined);
        this.#queued++;
      });
    } finally {
      this.#queueing--;
    }
    if (this.#room > 0) this.#ports.onRoom();
  }

  /** Stops the run where this process holds it. */
  cancel(runId: string): void {
    this.#runs.get(runId)?.controller.abort(new Interruption("cancelled"));
  }

  /** Prolongs the lease, and stops those runs that were lost or that somebody wants cancelled. */
  async renew(): Promise<void> {
    const held = [...this.#runs.values()];
    const states = await this.#ports.claims.renew(held.map(({ lease }) => lease));
    for (const { lease, controller } of held) {
      const state = states.get(lease.runId);
      if (!this.#runs.has(lease.runId)) continue;
      if (state === undefined) controller.abort(new Interruption("lease_lost"));
      else if (state.cancelRequested) controller.abort(new Interruption("cancelled"));
    }
  }

  /** Claims runs that nobody holds, as far as there is room, and goes on with them. @returns how many */
  async takeOver(goOn: (run: ClaimedRun, controller: AbortController) => Promise<void>): Promise<number> {
    if (this.draining.aborted) return 0;
    const { claims, queue } = this.#ports;
    const hold = (claimed: readonly ClaimedRun[]): number => {
      for (const run of claimed)
        this.#hold(run.lease, (controller) => {
          if (run.cancelRequested || this.#disowned.delete(run.lease.runId)) controller.abort(new Interruption("cancelled"));
          return goOn(run, controller);
        });
      return claimed.length;
    };
    const count = hold(await claims.claim(this.#known(), this.#room));
    this.#queued = await queue.count();
    if (this.#queued === 0 || this.#room <= 0) return count;
    const begun = hold(await queue.claim(this.#known(), this.#room));
    this.#queued -= begun;
    return count + begun;
  }

  /** Has every run handed over: when the step is done that is under way, or without it after some seconds. */
  async close(): Promise<void> {
    this.#draining.abort(new Interruption("handed_over"));
    const ended = Promise.all([...this.#runs.values()].map((run) => run.ended));
    const stepOver = new AbortController();
    await Promise.race([ended, sleep(STEP_MILLISECONDS, undefined, { signal: stepOver.signal }).catch(() => undefined)]);
    stepOver.abort();
    for (const { controller } of this.#runs.values()) controller.abort(new Interruption("handed_over"));
    await ended;
  }

  #known(): string[] {
    return [...this.#runs.keys(), ...this.#beginning];
  }

  async #begin(runId: string, begin: () => Promise<void>): Promise<void> {
    this.#beginning.add(runId);
    try {
      await begin();
    } catch (cause) {
      this.#disown(runId);
      throw cause;
    } finally {
      this.#beginning.delete(runId);
    }
  }

  #disown(runId: string): void {
    this.#disowned.add(runId);
    const [oldest] = this.#disowned;
    if (this.#disowned.size > MAXIMUM_DISOWNED) this.#disowned.delete(oldest!);
  }

  #hold(lease: Lease, work: (controller: AbortController) => Promise<void>): void {
    const controller = new AbortController();
    const ended = work(controller).finally(() => {
      // It may have been claimed again meanwhile, and be held anew.
      if (this.#runs.get(lease.runId)?.lease === lease) this.#runs.delete(lease.runId);
      if (this.#queued > 0) this.#ports.onRoom();
    });
    this.#runs.set(lease.runId, { lease, controller, ended });
  }
}
