export type FactType = "user" | "feedback" | "project" | "reference";
export type FactScope = "personal" | "team" | "project";
export type FactOrigin = "user-stated" | "model-inferred" | "system-generated";

/** Something remembered: one statement that stands alone. */
export interface Fact {
  /** UUID. */
  readonly id: string;
  readonly text: string;
  readonly category: string;
  readonly type: FactType;
  readonly scope: FactScope;
  readonly origin: FactOrigin;
  /** With the predicate it names a slot: a slot holds one valid fact. Both are empty where the fact has no slot. */
  readonly subject: string;
  readonly predicate: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  /** The workspace's path for scope project, else empty. */
  readonly project: string;
  /** The principal who wrote it. */
  readonly owner: string;
  /** Empty where no session wrote it. */
  readonly sourceSessionId: string;
  readonly validFrom: Date;
  /** Undefined while the fact holds. */
  readonly validTo: Date | undefined;
  /** The fact that took its place; empty where none did. */
  readonly supersededBy: string;
}

/** A fact that is to be written, before it has an id and a time. */
export type NewFact = Omit<Fact, "id" | "owner" | "validFrom" | "validTo" | "supersededBy">;
