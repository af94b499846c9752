import { PostgresFactStore } from "@hlvm/service-memory/src/adapters/postgres-fact-store.ts";
import { searchFacts, type SearchPorts } from "@hlvm/service-memory/src/domain/search-facts.ts";
import type { Viewer } from "@hlvm/service-memory/src/domain/viewer.ts";
import { writeFact, type FactDraft } from "@hlvm/service-memory/src/domain/write-fact.ts";
import { draftOf } from "@hlvm/service-memory/src/testing/draft-of.ts";
import { createMemoryStore } from "./memory-service.ts";
import { printTable } from "./print-table.ts";
import { bothTruePairs, laterPairs, type LaterPair } from "./said-later.ts";

const FOUND = 10;
/** Facts that stand beside every pair. */
const OTHERS = [
  "The printer is on the second floor",
  "Invoices are sent on the first of the month",
  "The office plants are watered by Mia",
];

/**
 * Whether what is said later takes the place of what was said before, with the slot named as a model's tool names it and without; and
 * whether anything ever takes the place of what is true beside it.
 */
export async function benchMemoryUpdates(): Promise<void> {
  const store = await createMemoryStore();
  const facts = new PostgresFactStore(store.database, () => undefined);
  const ports: SearchPorts = {
    store: facts,
    index: { servesFrom: Number.POSITIVE_INFINITY, candidates: () => Promise.reject(new Error("not asked")) },
  };
  const number = { of: 0 };
  const somebody = (): Viewer => ({ organization: "updates", principal: `user:${(number.of += 1)}`, project: "", mayWriteTeamFacts: true });
  const put = async (viewer: Viewer, text: string, draft: Partial<FactDraft>) =>
    facts.inScope(viewer, (scoped) => writeFact(scoped, viewer, draftOf(text, { scope: "personal", ...draft })));
  try {
    const [pairs, traps] = [laterPairs(), bothTruePairs()];
    let wrong = 0;
    for (const [one, other] of traps) {
      const viewer = somebody();
      await put(viewer, one, {});
      const { superseded, isNew } = await put(viewer, other, {});
      if (superseded.length === 0 && isNew) continue;
      wrong += 1;
      console.error(`put together: ${one} / ${other}`);
    }
    const rows = [];
    for (const isNamed of [true, false]) {
      let [merged, above] = [0, 0];
      for (const pair of pairs) {
        const viewer = somebody();
        const slot = isNamed ? { subject: pair.subject, predicate: pair.predicate } : {};
        for (const text of OTHERS) await put(viewer, text, {});
        await put(viewer, pair.old, slot);
        const { superseded } = await put(viewer, pair.fresh, slot);
        if (superseded.length > 0) merged += 1;
        if (await isFreshAbove(ports, viewer, pair)) above += 1;
        else console.error(`stale first: ${pair.ask} ${pair.old} / ${pair.fresh}`);
      }
      rows.push({
        slot: isNamed ? "named" : "left to the sentence",
        pairs: pairs.length,
        "fresh above stale %": (100 * above) / pairs.length,
        "taken the place of %": (100 * merged) / pairs.length,
        "pairs that are both true": traps.length,
        "put together": wrong,
        "merge precision %": (100 * merged) / Math.max(1, merged + wrong),
      });
    }
    printTable("What is said later (limits: fresh above stale 90 %, merge precision 99 %)", rows);
  } finally {
    await store.destroy();
  }
}

async function isFreshAbove(ports: SearchPorts, viewer: Viewer, { ask, old, fresh }: LaterPair): Promise<boolean> {
  const { facts } = await searchFacts(ports, viewer, { query: ask, limit: FOUND }, new AbortController().signal);
  const texts = facts.map(({ fact }) => fact.text);
  return texts.includes(fresh) && (!texts.includes(old) || texts.indexOf(fresh) < texts.indexOf(old));
}
