export const ENTITY_KINDS = ["path", "symbol", "package", "issue", "person", "name", "url"] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

/** Something that texts speak of. */
export interface Entity {
  readonly kind: EntityKind;
  /** The same for every way to write the name. */
  readonly key: string;
  /** As a text writes it. */
  readonly name: string;
}

/** What an entity is to an item: what its slot is about, what the slot says of it, part of its text, or who said it. */
export type EntityRole = "subject" | "object" | "mention" | "actor";

export interface EntityMention extends Entity {
  readonly role: EntityRole;
}
