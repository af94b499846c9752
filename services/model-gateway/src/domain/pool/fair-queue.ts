import { TokenCounters } from "./token-counters.ts";

export type Priority = "interactive" | "batch";

/**
 * While batch requests wait, no more than so many interactive ones are taken before one of them: the batch request whose turn it
 * is waits for 32 others at the most, the next one for 65, and so on.
 */
const INTERACTIVE_BEFORE_BATCH = 32;

export interface Queued {
  readonly priority: Priority;
  /** Whose share it takes. */
  readonly client: string;
  /** What it is expected to take at least, in weighted tokens. */
  readonly cost: number;
}

/**
 * The requests that wait: interactive ones before batch, and in each of the two the client first that has had least. What a
 * client had as batch does not count against what it asks for while it waits itself.
 */
export class FairQueue<Entry extends Queued> {
  readonly #entries: Record<Priority, Entry[]> = { interactive: [], batch: [] };
  readonly #counters: Readonly<Record<Priority, TokenCounters>> = { interactive: new TokenCounters(), batch: new TokenCounters() };
  #interactiveInARow = 0;

  get length(): number {
    return this.#entries.interactive.length + this.#entries.batch.length;
  }

  count(priority: Priority): number {
    return this.#entries[priority].length;
  }

  add(entry: Entry): void {
    const { priority, client } = entry;
    const waiting = new Set(this.#entries[priority].map((each) => each.client));
    if (!waiting.has(client)) this.#counters[priority].lift(client, waiting);
    this.#entries[priority].push(entry);
  }

  /** One that had its turn and has to wait again, through no fault of its own: before its client's others, and for nothing. */
  giveBack(entry: Entry): void {
    this.#entries[entry.priority].unshift(entry);
    this.#counters[entry.priority].charge(entry.client, -entry.cost);
  }

  /** It has its turn: its client is charged. */
  take(entry: Entry): void {
    this.remove(entry);
    this.#counters[entry.priority].charge(entry.client, entry.cost);
    if (entry.priority === "batch" || this.#entries.batch.length === 0) this.#interactiveInARow = 0;
    else this.#interactiveInARow++;
  }

  /** It waits no more, and had nothing. */
  remove(entry: Entry): void {
    const entries = this.#entries[entry.priority];
    const index = entries.indexOf(entry);
    if (index !== -1) entries.splice(index, 1);
  }

  /** What it took beyond its cost; less than nothing where it took less. */
  settle({ priority, client }: Queued, tokens: number): void {
    this.#counters[priority].charge(client, tokens);
  }

  /** Whether a batch request is next because enough interactive ones went before it. */
  get isBatchDue(): boolean {
    return this.#interactiveInARow >= INTERACTIVE_BEFORE_BATCH && this.#entries.batch.length > 0;
  }

  /** All that wait, in the order in which they are served. */
  *inTurn(): Generator<Entry, void> {
    const [first, second] = this.isBatchDue ? (["batch", "interactive"] as const) : (["interactive", "batch"] as const);
    yield* this.#inTurn(first);
    yield* this.#inTurn(second);
  }

  *#inTurn(priority: Priority): Generator<Entry, void> {
    const waiting = Map.groupBy(this.#entries[priority], ({ client }) => client);
    const counters = new Map([...waiting.keys()].map((client) => [client, this.#counters[priority].of(client)]));
    while (waiting.size > 0) {
      const client = [...waiting.keys()].reduce((one, other) => (counters.get(other)! < counters.get(one)! ? other : one));
      const entries = waiting.get(client)!;
      const next = entries.shift()!;
      if (entries.length === 0) waiting.delete(client);
      counters.set(client, counters.get(client)! + next.cost);
      yield next;
    }
  }
}
