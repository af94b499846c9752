import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import type { FoundFact } from "./candidates.ts";
import type { Fact } from "./fact.ts";
import { rankFacts } from "./relevance.ts";
import { stemsOf } from "./stems.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const NOTHING_KNOWN = { ids: [], total: 0, frequencies: new Map<string, number>() };

function found(text: string, changes: Partial<Fact> = {}): FoundFact {
  const fact: Fact = {
    id: text,
    text,
    category: "",
    type: "project",
    scope: "project",
    origin: "model-inferred",
    subject: "",
    predicate: "",
    tags: [],
    pinned: false,
    project: "/p",
    owner: "user:a",
    sourceSessionId: "",
    validFrom: NOW,
    validTo: undefined,
    supersededBy: "",
    actor: "",
    sourceOrdinal: undefined,
    saidAt: undefined,
    validatedAt: undefined,
    proposal: undefined,
    proposalOf: "",
    proposesEnd: false,
    ...changes,
  };
  return { fact, stems: stemsOf(text) };
}
const rank = (query: string, facts: FoundFact[], known = NOTHING_KNOWN) => rankFacts(facts, stemsOf(query), known, NOW);
const order = (query: string, facts: FoundFact[]): string[] => rank(query, facts).map(({ fact }) => fact.id);

describe("rankFacts", () => {
  it("puts the rare word before the common one, and leaves out what holds neither", () => {
    const facts = [found("service logs"), found("service metrics"), found("service traces"), found("scheduler runs"), found("lunch")];
    expect(order("service of the scheduler", facts)[0]).toBe("scheduler runs");
    expect(order("service of the scheduler", facts)).not.toContain("lunch");
  });

  it("weighs terms by all that the viewer can see, not by the candidates alone", () => {
    const known = {
      ids: [],
      total: 1000,
      frequencies: new Map([
        ["servic", 900],
        ["schedul", 2],
      ]),
    };
    const [first, second] = rank("service scheduler", [found("service here"), found("scheduler here")], known);
    expect(first!.fact.id).toBe("scheduler here");
    expect(first!.score).toBeGreaterThan(10 * second!.score);
  });

  it("counts what a person said double", () => {
    const facts = [found("deploys run nightly"), found("deploys run", { id: "stated", origin: "user-stated" })];
    expect(order("when do deploys run nightly?", facts)).toHaveLength(2);
    expect(order("deploys run", [found("deploys run", { id: "inferred" }), facts[1]!])[0]).toBe("stated");
  });

  it("lets age break a tie and no more", () => {
    const old = new Date("2020-01-01");
    expect(order("deploys", [found("deploys", { id: "old", validFrom: old }), found("deploys", { id: "young" })])).toEqual([
      "young",
      "old",
    ]);
    expect(order("deploys nightly", [found("deploys often"), found("deploys nightly", { validFrom: old })])[0]).toBe("deploys nightly");
  });

  it("covers everything with all words, little with a common one, and never leaves 0 to 1", () => {
    const facts = [found("red turbine"), found("red door"), found("red house"), found("red car")];
    const coverage = new Map(rank("red turbine", facts).map(({ fact, coverage: share }) => [fact.id, share]));
    expect(coverage.get("red turbine")).toBe(1);
    expect(coverage.get("red door")).toBeLessThan(0.3);
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(fastCheck.lorem({ maxCount: 8 }), { maxLength: 12 }),
        fastCheck.lorem({ maxCount: 6 }),
        (texts, query) => {
          for (const { score, coverage: share } of rank(
            query,
            texts.map((text) => found(text)),
          )) {
            expect(score).toBeGreaterThan(0);
            expect(share >= 0 && share <= 1).toBe(true);
          }
        },
      ),
    );
  });
});
