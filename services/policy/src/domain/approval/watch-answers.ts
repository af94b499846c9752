import type { ApprovalStore } from "./approval-store.ts";

/** Nobody waits longer for an answer: what a run is delegated ends after a day. */
const OLDEST_SECONDS = 24 * 60 * 60;
/** Longer than a transaction takes from its beginning, which is when an answer was given, to its end, when it is seen. */
const RECENT_SECONDS = 60;
/** Where a notification was lost. */
const LOOK_AGAIN_MILLISECONDS = 5_000;

/** Ids of the runs that have answers which nobody has taken: first all, be they none, then those that come, each answer once. */
export async function* watchAnswers(store: ApprovalStore, signal: AbortSignal): AsyncGenerator<string[], void> {
  // Watching begins before the first look: an answer in between is not missed.
  using watch = store.watchAll();
  let known: ReadonlySet<string> | undefined;
  for (let seconds = OLDEST_SECONDS; ; seconds = RECENT_SECONDS) {
    const untaken = await store.untaken(seconds);
    const news = untaken.filter(({ approvalId }) => known?.has(approvalId) !== true);
    const isFirst = known === undefined;
    known = new Set(untaken.map(({ approvalId }) => approvalId));
    if (isFirst || news.length > 0) yield [...new Set(news.map(({ runId }) => runId))];
    await watch.change(LOOK_AGAIN_MILLISECONDS, signal);
  }
}
