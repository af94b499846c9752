import type { Fact } from "../fact.ts";
import { redactSecrets } from "../redact-secrets.ts";
import type { Turn } from "../transcripts/transcript-store.ts";
import type { Entity, EntityMention, EntityRole } from "./entity.ts";
import { entityOf, findEntities, MAXIMUM_ENTITIES } from "./find-entities.ts";

/** Counts up whenever entities are found in another way: what was found before is found again. */
export const ENTITIES_VERSION = 1;
/** They name a role in a chat, and nobody. */
const ROLES: ReadonlySet<string> = new Set(["user", "assistant", "system", "tool", "human", "model"]);

/** What a fact is about, what it speaks of, and who said it. */
export function factMentions({ text, subject, predicate, actor }: Pick<Fact, "text" | "subject" | "predicate" | "actor">): EntityMention[] {
  const inText: EntityRole = subject !== "" && predicate !== "" ? "object" : "mention";
  return distinct([...as("subject", whole(subject, "name")), ...as(inText, findEntities(text)), ...as("actor", whole(actor, "person"))]);
}

/** Of what tools print and harnesses add, nobody spoke. */
export function turnMentions({ text, speaker }: Pick<Turn, "text" | "speaker">): EntityMention[] {
  return speaker === "person" || speaker === "assistant" ? distinct(as("mention", findEntities(text))) : [];
}

function as(role: EntityRole, entities: readonly Entity[]): EntityMention[] {
  return entities.map((entity) => ({ ...entity, role }));
}

/** Of the kind that its form says; otherwise of this one. */
function whole(name: string, kind: "name" | "person"): Entity[] {
  if (name === "" || ROLES.has(name.toLowerCase()) || redactSecrets(name) !== name) return [];
  const given = entityOf(kind, name);
  if (given === undefined) return [];
  const formed = findEntities(`x ${name}`).find(({ key }) => key === given.key);
  return [kind === "person" ? given : (formed ?? given)];
}

/** The first role of each counts. */
function distinct(mentions: readonly EntityMention[]): EntityMention[] {
  const first = new Map<string, EntityMention>();
  for (const mention of mentions) {
    const id = `${mention.kind} ${mention.key}`;
    if (!first.has(id)) first.set(id, mention);
  }
  return [...first.values()].slice(0, MAXIMUM_ENTITIES);
}
