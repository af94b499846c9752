import { gauge } from "@hlvm/telemetry/instrument";
import type { ModelError } from "../../domain/model-error.ts";
import { FairQueue, type Queued } from "../../domain/pool/fair-queue.ts";
import { placeRequest } from "../../domain/pool/place-request.ts";
import type { LlamaInstance } from "./llama-instance.ts";
import { drained, noServers, noSlots, notServed, queueFull } from "./pool-refusals.ts";
import type { PoolRequest } from "./pool-request.ts";
import type { Lease, SlotGroup } from "./slot-group.ts";

const LONGEST_QUEUE = 256;
const SIGN_MILLISECONDS = 1_000;
const SWEEP_MILLISECONDS = 5_000;

interface Waiting extends Queued {
  readonly request: PoolRequest;
  readonly heard: () => void;
  readonly take: (lease: Lease) => void;
  readonly giveUp: (why: Error) => void;
}

/** Where the servers are, which may change. */
export interface ServerSource {
  /** Why the servers could not be looked up the last time; empty where they could. */
  readonly problem: string;
  /** Those that there are now, or were when they were looked up last. Never rejects. */
  instances(): Promise<readonly LlamaInstance[]>;
}

/**
 * Gives every request a slot of a server, and lets the others wait here: llama-server's own queue knows neither priorities nor
 * fairness, so it never gets more than its slots.
 */
export class LlamaPool {
  readonly #source: ServerSource;
  readonly #queue = new FairQueue<Waiting>();
  /** Leases of what nobody waits for. */
  readonly #idle = new Set<Lease>();
  /** Those of the source, and those that left it and still answer. */
  #instances: readonly LlamaInstance[] = [];
  #signs: NodeJS.Timeout | undefined;

  constructor(source: ServerSource) {
    this.#source = source;
    gauge("hlvm.model.queued", "Requests that wait for a slot of a llama-server.", "{request}", (result) => {
      for (const priority of ["interactive", "batch"] as const) result.observe(this.#queue.count(priority), { priority });
    });
    gauge("hlvm.model.slots", "Slots of the llama-servers, in use and free.", "{slot}", (result) => {
      const used = this.#instances.reduce((sum, { inFlight }) => sum + inFlight, 0);
      result.observe(used, { state: "used" });
      result.observe(this.#instances.reduce((sum, { slots }) => sum + slots, 0) - used, { state: "free" });
    });
  }

  get problem(): string {
    return this.#source.problem;
  }

  queued(priority: Queued["priority"]): number {
    return this.#queue.count(priority);
  }

  /** Every instance, each asked lately. */
  async instances(): Promise<readonly LlamaInstance[]> {
    await this.#refresh(() => this.#instances.some(({ isOpen }) => isOpen));
    return this.#instances;
  }

  /** Ends what a gateway that is gone has left at the servers, unless somebody comes back for it. */
  async sweep(): Promise<void> {
    const instances = await this.instances();
    if (instances.some(({ answers }) => answers.orphans > 0)) setTimeout(() => void this.sweep(), SWEEP_MILLISECONDS).unref();
  }

  /**
   * A slot for one request, to be released after it.
   * @param heard called now and then while the request waits for one
   * @throws ModelError `queue_full`, or why no instance has the model; the signal's reason where it is aborted
   */
  async acquire(request: PoolRequest, signal: AbortSignal, heard: () => void): Promise<Lease> {
    await this.#refresh(() => this.#isServed(request.model));
    signal.throwIfAborted();
    if (!this.#isServed(request.model)) throw this.nobodyServes(request.model);
    if (this.#groups(request.model).every(({ share }) => share === 0)) throw noSlots(request.model);
    this.#endIdle();
    return this.#wait(request, signal, heard);
  }

  /** A slot of this one, if there is one that nobody waits for. */
  acquireSpare(group: SlotGroup, request: PoolRequest): Lease | undefined {
    return this.#queue.length === 0 && group.inFlight < group.share - group.elsewhere ? group.take(request) : undefined;
  }

  /** The same until anybody wants a slot: it has to give way then, and has none any more. */
  acquireIdle(group: SlotGroup, request: PoolRequest): Lease | undefined {
    const lease = this.acquireSpare(group, request);
    if (lease !== undefined) this.#idle.add(lease);
    return lease;
  }

  #endIdle(): void {
    for (const lease of this.#idle) {
      lease.givingWay.abort();
      lease.group.release(lease);
    }
    this.#idle.clear();
  }

  /** @param tokens what it took, weighted; undefined where it gives way and comes again */
  release(lease: Lease, tokens: number | undefined): void {
    this.#idle.delete(lease);
    lease.group.release(lease);
    if (tokens !== undefined) this.#queue.settle(lease.request, tokens - lease.request.cost);
    this.serveQueue();
  }

  serveQueue(): void {
    // Each that is placed changes what is best for the others.
    while (this.#serveOne());
    this.#signs ??= this.#queue.length === 0 ? undefined : setInterval(() => this.#sign(), SIGN_MILLISECONDS);
    if (this.#queue.length > 0) return;
    clearInterval(this.#signs);
    this.#signs = undefined;
  }

  #serveOne(): boolean {
    const { isBatchDue } = this.#queue;
    for (const waiting of this.#queue.inTurn()) {
      const { request } = waiting;
      const groups = this.#groups(request.model);
      if (groups.length === 0) {
        this.#queue.remove(waiting);
        waiting.giveUp(this.nobodyServes(request.model));
        return true;
      }
      const placed = placeRequest(
        groups.map((group) => group.candidate(request)),
        {
          priority: request.priority,
          waitedMilliseconds: performance.now() - request.since,
          isDue: isBatchDue && request.priority === "batch",
        },
      );
      if (placed === undefined) continue;
      this.#queue.take(waiting);
      if (request.priority === "interactive") makeWay(placed.group);
      waiting.take(placed.group.take(request));
      return true;
    }
    return false;
  }

  /** While requests wait: they are known to go on, servers are looked up and asked again, and a wait that was worth it may be no more. */
  #sign(): void {
    for (const { heard } of this.#queue.inTurn()) heard();
    for (const instance of this.#instances) if (instance.groups.some(({ elsewhere }) => elsewhere > 0)) instance.doubt();
    void this.#refresh(() => true).then(() => this.serveQueue());
  }

  /** Asks whoever was not asked lately. One that failed last time is waited for only where the others are not enough. */
  async #refresh(isEnough: () => boolean): Promise<void> {
    const listed = await this.#source.instances();
    const leaving = this.#instances.filter((instance) => !listed.includes(instance) && instance.inFlight > 0);
    this.#instances = [...listed, ...leaving];
    const retried = this.#ask((instance) => instance.failure !== undefined);
    await this.#ask((instance) => instance.failure === undefined);
    if (!isEnough()) await retried;
  }

  async #ask(isMeant: (instance: LlamaInstance) => boolean): Promise<void> {
    const asking = this.#instances.filter(isMeant).flatMap((instance) => instance.refresh() ?? []);
    await Promise.all(asking.map((answered) => answered.then(() => this.serveQueue())));
  }

  #groups(model: string): readonly SlotGroup[] {
    return this.#instances.flatMap(({ groups }) => groups.filter((group) => group.serves(model)));
  }

  #isServed(model: string): boolean {
    return this.#groups(model).length > 0;
  }

  #wait(request: PoolRequest, signal: AbortSignal, heard: () => void): Promise<Lease> {
    if (this.#queue.length >= LONGEST_QUEUE) throw queueFull(LONGEST_QUEUE);
    const turn = Promise.withResolvers<Lease>();
    const abort = (): void => {
      this.#queue.remove(waiting);
      waiting.giveUp(signal.reason as Error);
    };
    const { priority, client, cost } = request;
    const waiting: Waiting = {
      priority,
      client,
      cost,
      request,
      heard,
      take: (lease) => {
        signal.removeEventListener("abort", abort);
        turn.resolve(lease);
      },
      giveUp: (why) => {
        signal.removeEventListener("abort", abort);
        turn.reject(why);
      },
    };
    signal.addEventListener("abort", abort, { once: true });
    if (request.timesGivenWay > 0) this.#queue.giveBack(waiting);
    else this.#queue.add(waiting);
    this.serveQueue();
    return turn.promise;
  }

  /** Why no server takes requests for a model. */
  nobodyServes(model: string): ModelError {
    const closed = this.#instances.find((instance) => instance.models.some(({ name }) => name === model) && instance.drain !== undefined);
    if (closed?.drain !== undefined) return drained(model, closed.drain.why);
    const failing = this.#instances.find((instance) => instance.failure !== undefined);
    if (failing?.failure !== undefined) return failing.failure;
    if (this.#instances.length === 0) return noServers(this.problem);
    return notServed(model, new Set(this.#instances.flatMap(({ models }) => models.map(({ name }) => name))));
  }
}

/** Batch requests of which nothing has been heard leave the server to somebody who waits; what it has read of them stays in its cache. */
function makeWay(group: SlotGroup): void {
  for (const lease of group.leases) if (lease.spokeAt === undefined && lease.request.givesWay) lease.givingWay.abort();
}
