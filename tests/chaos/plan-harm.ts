import { Random } from "./random.ts";

/** What is done to one part of the mesh. */
export type Harm =
  | { readonly kind: "kill"; readonly part: string }
  /** SIGSTOP, and SIGCONT when the time is over. */
  | { readonly kind: "freeze"; readonly part: string; readonly milliseconds: number };

/** Whoever keeps the data: killed now and then, and never frozen, since a database that stands still stops everybody. */
const STORES: ReadonlySet<string> = new Set(["PostgreSQL", "Meilisearch"]);
const STORE_SHARE = 1 / 12;
const KILL_SHARE = 1 / 2;
const SHORTEST_FREEZE_MILLISECONDS = 500;
const LONGEST_FREEZE_MILLISECONDS = 6_000;

/** What to do, one harm after the other without end; only the seed and the names decide it. */
export function* planHarm(seed: number, parts: readonly string[]): Generator<Harm, never> {
  const random = new Random(seed);
  const stores = parts.filter((part) => STORES.has(part)).toSorted();
  const services = parts.filter((part) => !STORES.has(part)).toSorted();
  for (;;) {
    if (stores.length > 0 && random.next() < STORE_SHARE) {
      yield { kind: "kill", part: random.pick(stores) };
      continue;
    }
    const part = random.pick(services);
    if (random.next() < KILL_SHARE) yield { kind: "kill", part };
    else yield { kind: "freeze", part, milliseconds: random.integer(SHORTEST_FREEZE_MILLISECONDS, LONGEST_FREEZE_MILLISECONDS) };
  }
}

/** One kill of each part, in an order that the seed decides. */
export function* planOneKillEach(seed: number, parts: readonly string[]): Generator<Harm, void> {
  const random = new Random(seed);
  const left = parts.toSorted();
  while (left.length > 0) {
    const part = random.pick(left);
    left.splice(left.indexOf(part), 1);
    yield { kind: "kill", part };
  }
}
