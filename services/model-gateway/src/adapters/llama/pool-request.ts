import type { Queued } from "../../domain/pool/fair-queue.ts";
import { prefixBlocks, type PrefixBlocks } from "../../domain/pool/prefix-blocks.ts";
import type { Generation } from "../../domain/generation.ts";

/** Until the server tells: most tokenizers make of four characters one token. */
const TOKENS_PER_CHARACTER = 0.25;
/** A batch request that gave way so often keeps its slot. */
const MOST_TIMES_GIVEN_WAY = 8;

/** A request on its way to a slot. */
export class PoolRequest implements Queued {
  readonly model: string;
  readonly priority: Queued["priority"];
  readonly client: string;
  readonly blocks: PrefixBlocks;
  /** Since when it waits, as `performance.now` tells time. */
  readonly since = performance.now();
  timesGivenWay = 0;

  constructor(generation: Generation) {
    this.model = generation.model;
    this.priority = generation.priority ?? "interactive";
    this.client = generation.fairShare ?? "";
    this.blocks = prefixBlocks(generation);
  }

  get cost(): number {
    return this.blocks.characters * TOKENS_PER_CHARACTER;
  }

  get givesWay(): boolean {
    return this.priority === "batch" && this.timesGivenWay < MOST_TIMES_GIVEN_WAY;
  }
}
