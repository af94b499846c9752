import type { LimitGroup, LimitValues, ProcessorShare, SandboxLimits } from "./sandbox-limits.ts";

const MAXIMUM_FREE = 16;

/** Groups that are used again: to make and to remove one takes a millisecond of the processor, for each command. */
export class GroupPool {
  readonly #limits: SandboxLimits;
  readonly #values: LimitValues;
  readonly #free: LimitGroup[] = [];
  #isClosed = false;

  constructor(limits: SandboxLimits, values: LimitValues) {
    this.#limits = limits;
    this.#values = values;
  }

  /** A group in which nothing runs and that has counted nothing; its `remove` gives it back. */
  take(share: ProcessorShare): LimitGroup {
    const group = this.#free.pop() ?? this.#limits.createGroup(this.#values);
    group.share(share);
    return { ...group, remove: () => this.#giveBack(group) };
  }

  /** Removes those that are free, and from now on those that are given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#free.splice(0).map((group) => group.remove()));
  }

  async #giveBack(group: LimitGroup): Promise<void> {
    await group.clear();
    if (!this.#isClosed && this.#free.length < MAXIMUM_FREE && isAsNew(group)) this.#free.push(group);
    else await group.remove();
  }
}

function isAsNew(group: LimitGroup): boolean {
  try {
    return group.isAsNew();
  } catch {
    return false;
  }
}
