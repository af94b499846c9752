import type { ModelDescription } from "../../domain/model.ts";
import type { Usage } from "../../domain/generation.ts";
import { HeldPrefixes } from "../../domain/pool/held-prefixes.ts";
import type { Candidate } from "../../domain/pool/place-request.ts";
import { RecentSum } from "../../domain/pool/recent-sum.ts";
import { RunningMean } from "../../domain/pool/running-mean.ts";
import { slotShare, type Replica } from "../../domain/pool/slot-share.ts";
import type { LlamaInstance } from "./llama-instance.ts";
import type { PoolRequest } from "./pool-request.ts";

/** Of a prompt; what a server is believed to take while it has read none. */
const UNKNOWN_MILLISECONDS_PER_CHARACTER = 0.25;
const UNKNOWN_MILLISECONDS = 5_000;
/** The server may still be at work on what was ended here so shortly ago. */
const ENDING_MILLISECONDS = 500;
/** Too little to tell how fast a server reads. */
const FEWEST_TOKENS_READ = 64;

/** A slot that a request has. */
export interface Lease {
  readonly group: SlotGroup;
  readonly request: PoolRequest;
  readonly startedAt: number;
  /** Blocks of its prompt that were expected in the server's cache. */
  readonly expected: number;
  /** Aborted where it has to give way to an interactive request; only while nothing of an answer has come. */
  readonly givingWay: AbortController;
  spokeAt: number | undefined;
}

/** Slots that serve the same models: those of one llama-server, or of one of a router's models. */
export class SlotGroup {
  readonly instance: LlamaInstance;
  models: readonly ModelDescription[] = [];
  /** All that the server has. */
  slots = 0;
  /** What somebody else uses of them. */
  elsewhere = 0;
  readonly held = new HeldPrefixes();
  readonly leases = new Set<Lease>();
  answered = 0;
  answersSinceCanary = 0;
  /** The longest context that the server has not refused; what it says of itself is not always so. */
  provenWindow = Number.POSITIVE_INFINITY;
  /** Tokens of prompts, and how many of them came from the cache, as it was expected and as the server told. */
  readonly prompts = { tokens: 0, expected: 0, cached: 0 };
  readonly #name: string;
  readonly #replica: Replica;
  readonly #work = new RecentSum();
  readonly #duration = new RunningMean();
  readonly #millisecondsPerCharacter = new RunningMean();
  #ended: number[] = [];
  #interactiveAt = Number.NEGATIVE_INFINITY;

  /** @param name of a router's model; empty for a server of its own */
  constructor(instance: LlamaInstance, name: string, replica: Replica) {
    this.instance = instance;
    this.#name = name;
    this.#replica = replica;
  }

  get inFlight(): number {
    return this.leases.size;
  }

  /** How many of the slots this gateway may use; the others belong to its replicas. */
  get share(): number {
    return slotShare(this.slots, `${this.instance.name} ${this.#name}`, this.#replica);
  }

  serves(model: string): boolean {
    return this.instance.isOpen && this.models.some(({ name }) => name === model);
  }

  describe(models: readonly ModelDescription[], slots: number): void {
    this.models = models;
    this.slots = slots;
    this.held.setSlots(slots);
  }

  /**
   * The server's own word on how many of its slots are at work. Where gateways divide them, those of the others are among these, and
   * of them only those count that this gateway left there when it ended.
   */
  noteBusy(busy: number): void {
    const since = performance.now() - ENDING_MILLISECONDS;
    this.#ended = this.#ended.filter((at) => at > since);
    const { orphans } = this.instance.answers;
    this.elsewhere = this.#replica.count > 1 ? orphans : Math.max(orphans, busy - this.inFlight - this.#ended.length);
  }

  candidate(request: PoolRequest): Candidate & { readonly group: SlotGroup } {
    const now = performance.now();
    const leases = [...this.leases];
    const batchInFlight = leases.filter((lease) => lease.request.priority === "batch").length;
    const { hashes, characters } = request.blocks;
    return {
      group: this,
      slots: Math.max(0, this.share - this.elsewhere),
      inFlight: this.inFlight,
      batchInFlight,
      quietMilliseconds: this.inFlight > batchInFlight ? 0 : now - this.#interactiveAt,
      matched: (this.held.matched(hashes) / Math.max(1, hashes.length)) * characters,
      recentWork: this.#work.value(now) + leases.reduce((sum, { startedAt }) => sum + now - startedAt, 0),
      waitMilliseconds: this.#wait(now),
      millisecondsPerCharacter: this.#millisecondsPerCharacter.value(UNKNOWN_MILLISECONDS_PER_CHARACTER),
    };
  }

  take(request: PoolRequest): Lease {
    const lease: Lease = {
      group: this,
      request,
      startedAt: performance.now(),
      expected: this.held.matched(request.blocks.hashes),
      givingWay: new AbortController(),
      spokeAt: undefined,
    };
    this.leases.add(lease);
    return lease;
  }

  /** The first piece of an answer has come: the prompt is in the server's cache. */
  speak(lease: Lease): void {
    if (lease.spokeAt !== undefined) return;
    lease.spokeAt = performance.now();
    this.held.add(lease.request.blocks.hashes);
  }

  /** What the server tells of a prompt that it has read. */
  settle(lease: Lease, { input, cacheRead }: Usage): void {
    const { hashes, characters } = lease.request.blocks;
    const tokens = input + cacheRead;
    if (tokens === 0) return;
    const perBlock = tokens / hashes.length;
    const expectedTokens = Math.min(lease.expected, hashes.length) * perBlock;
    this.prompts.tokens += tokens;
    this.prompts.expected += expectedTokens;
    this.prompts.cached += cacheRead;
    // A block more or less is how the text was cut; it reads the last token anew in any case.
    const used = Math.ceil((cacheRead + 1) / perBlock);
    if (used < lease.expected - 1) {
      this.held.correct(hashes, lease.expected, used);
      this.held.add(hashes);
    } else if (cacheRead > expectedTokens + tokens / 2) this.held.surprise();
    if (input >= FEWEST_TOKENS_READ && lease.spokeAt !== undefined)
      this.#millisecondsPerCharacter.note((lease.spokeAt - lease.startedAt) / ((input / tokens) * characters));
  }

  release(lease: Lease): void {
    if (!this.leases.delete(lease)) return;
    const now = performance.now();
    const milliseconds = now - lease.startedAt;
    this.#ended.push(now);
    if (lease.request.priority === "interactive") this.#interactiveAt = now;
    this.#work.add(milliseconds, now);
    if (lease.spokeAt === undefined) return;
    this.answered++;
    this.answersSinceCanary++;
    this.#duration.note(milliseconds);
  }

  #wait(now: number): number {
    if (this.inFlight < this.share - this.elsewhere) return 0;
    const usual = this.#duration.value(UNKNOWN_MILLISECONDS);
    // One that has taken longer than usual may take as long again.
    return Math.min(usual, ...[...this.leases].map(({ startedAt }) => Math.max(usual - (now - startedAt), usual / 4)));
  }
}
