import { textKeyOf } from "../fact-keys.ts";
import type { Fact } from "../fact.ts";
import { redactSecrets } from "../redact-secrets.ts";

export type FactFaultKind = "secret" | "duplicate" | "contradiction" | "forgotten" | "pinned-unseen";

export interface FactFault {
  readonly kind: FactFaultKind;
  readonly message: string;
  readonly advice: string;
  readonly factIds: readonly string[];
}

const MAXIMUM_PINNED = 10;
const YEAR_MILLISECONDS = 365 * 86_400_000;

/**
 * Facts that somebody should see to.
 * @param facts valid ones, latest first
 * @param lately ids of those that were shown to anybody lately
 */
export function auditFacts(facts: readonly Fact[], lately: ReadonlySet<string>, now: Date): FactFault[] {
  return [...secrets(facts), ...duplicates(facts), ...contradictions(facts), ...unseenPins(facts), ...forgotten(facts, lately, now)];
}

function secrets(facts: readonly Fact[]): FactFault[] {
  return facts
    .filter(({ text }) => redactSecrets(text) !== text)
    .map(({ id }) => ({
      kind: "secret",
      message: `Fact ${id} holds what looks like a secret.`,
      advice: `Take it out with \`hlvm memory edit ${id} TEXT\`, and change the secret: it was stored.`,
      factIds: [id],
    }));
}

/** Across slots and scopes: within one slot a text is there once. */
function duplicates(facts: readonly Fact[]): FactFault[] {
  return several(facts, ({ text }) => textKeyOf(text)).map((same) => ({
    kind: "duplicate",
    message: `${same.length} facts say: ${same[0]!.text}`,
    advice: `Keep one, and end the others with \`hlvm memory end ID\`.`,
    factIds: same.map(({ id }) => id),
  }));
}

function contradictions(facts: readonly Fact[]): FactFault[] {
  const slotted = facts.filter(({ subject, predicate }) => subject !== "" && predicate !== "");
  return several(slotted, ({ subject, predicate }) => JSON.stringify([subject.toLowerCase(), predicate.toLowerCase()]))
    .filter((same) => new Set(same.map(({ text }) => textKeyOf(text))).size > 1)
    .map((same) => ({
      kind: "contradiction",
      message: `${same.map(({ scope }) => scope).join(" and ")} differ on ${same[0]!.subject}, ${same[0]!.predicate}: ${same.map(({ text }) => text).join(" / ")}`,
      advice: "End what is wrong with `hlvm memory end ID`.",
      factIds: same.map(({ id }) => id),
    }));
}

function unseenPins(facts: readonly Fact[]): FactFault[] {
  const unseen = facts.filter(({ pinned }) => pinned).slice(MAXIMUM_PINNED);
  if (unseen.length === 0) return [];
  return [
    {
      kind: "pinned-unseen",
      message: `A run is shown ${MAXIMUM_PINNED} pinned facts; ${unseen.length} older ones are pinned for nothing.`,
      advice: "Unpin what need not be in every session with `hlvm memory unpin ID`.",
      factIds: unseen.map(({ id }) => id),
    },
  ];
}

function forgotten(facts: readonly Fact[], lately: ReadonlySet<string>, now: Date): FactFault[] {
  const old = facts.filter(
    ({ id, pinned, validFrom }) => !pinned && !lately.has(id) && now.getTime() - validFrom.getTime() > YEAR_MILLISECONDS,
  );
  if (old.length === 0) return [];
  return [
    {
      kind: "forgotten",
      message: `${old.length} ${old.length === 1 ? "fact is" : "facts are"} a year old and ${old.length === 1 ? "was" : "were"} shown to nobody lately.`,
      advice: "Look whether they still hold: `hlvm memory list`.",
      factIds: old.map(({ id }) => id),
    },
  ];
}

function several(facts: readonly Fact[], keyOf: (fact: Fact) => string): Fact[][] {
  return [...Map.groupBy(facts, keyOf).values()].filter((same) => same.length > 1);
}
