interface Entry<Item> {
  readonly person: string;
  readonly item: Item;
}

/**
 * A bounded queue with a line for each person, taken from in turns: round robin. Where it is full, the person with the
 * longest line loses the newest of it, so that nobody keeps others out by asking for much.
 */
export class FairQueue<Item> {
  readonly #maximum: number;
  /** By person; whose turn is next comes first. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the item that did not fit, which may be the new one */
  push({ person, item }: Entry<Item>): Item | undefined {
    const line = this.#lines.get(person) ?? [];
    line.push(item);
    this.#lines.set(person, line);
    this.#size++;
    if (this.#size <= this.#maximum) return undefined;
    const [longest] = [...this.#lines].sort(([, one], [, other]) => other.length - one.length);
    // Of lines of the same length the newcomer's gives way.
    const [from, its] = longest![1].length > line.length ? longest! : [person, line];
    const dropped = its.at(-1)!;
    this.remove({ person: from, item: dropped });
    return dropped;
  }

  shift(): Item | undefined {
    const [next] = this.#lines;
    if (next === undefined) return undefined;
    const [person, line] = next;
    const item = line[0]!;
    this.remove({ person, item });
    // Behind all others.
    if (this.#lines.delete(person)) this.#lines.set(person, line);
    return item;
  }

  /** One that is not in the queue is no error. */
  remove({ person, item }: Entry<Item>): void {
    const line = this.#lines.get(person);
    const at = line?.indexOf(item) ?? -1;
    if (line === undefined || at === -1) return;
    line.splice(at, 1);
    this.#size--;
    if (line.length === 0) this.#lines.delete(person);
  }

  /** Removes all that match, of every person. */
  take(matches: (item: Item) => boolean): Item[] {
    const taken = [...this.#lines].flatMap(([person, line]) => line.filter(matches).map((item) => ({ person, item })));
    for (const entry of taken) this.remove(entry);
    return taken.map(({ item }) => item);
  }

  /** How many are taken until it is this one's turn, itself included; 0 where it is not in the queue. */
  position({ person, item }: Entry<Item>): number {
    const before = this.#lines.get(person)?.indexOf(item) ?? -1;
    if (before === -1) return 0;
    let position = 0;
    let rounds = before + 1;
    for (const [other, line] of this.#lines) {
      position += Math.min(line.length, rounds);
      // Those behind come once less before it.
      if (other === person) rounds--;
    }
    return position;
  }
}
