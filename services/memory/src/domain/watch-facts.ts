import { setTimeout as sleep } from "node:timers/promises";
import type { FactChange } from "./fact-change.ts";
import type { FactFilter, Heads } from "./fact-history.ts";
import type { FactStore } from "./fact-store.ts";
import type { Viewer } from "./viewer.ts";

const LOOK_MILLISECONDS = 500;
/** Of each audience. */
const PAGE = 100;
const HEARTBEAT_MILLISECONDS = 15_000;
const LIFETIME_MILLISECONDS = 600_000;

export interface WatchedChanges {
  readonly changes: readonly FactChange[];
  readonly heads: Heads;
}

/**
 * Changes in the viewer's scope as they are committed, each once. The first answer comes at once, with or without changes; then an empty
 * one where nothing came for 15 seconds. Who watches has to ask again after ten minutes.
 * @param from undefined for those that come from now on
 */
export async function* watchFacts(
  store: FactStore,
  viewer: Viewer,
  { filter, from, signal }: { readonly filter: FactFilter; readonly from: Heads | undefined; readonly signal: AbortSignal },
): AsyncGenerator<WatchedChanges, void> {
  const end = performance.now() + LIFETIME_MILLISECONDS;
  let heads = from ?? (await store.inScope(viewer, ({ history }) => history.heads()));
  let toldAt = -Infinity;
  while (performance.now() < end) {
    signal.throwIfAborted();
    const before = heads;
    const found = await store.inScope(viewer, ({ history }) => history.changesAfter(filter, before, PAGE));
    heads = found.heads;
    if (found.changes.length > 0 || performance.now() - toldAt >= HEARTBEAT_MILLISECONDS) {
      toldAt = performance.now();
      yield found;
    }
    if (heads.every((head, at) => head === before[at])) await sleep(LOOK_MILLISECONDS, undefined, { signal });
  }
}
