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
  /** The project's id for scope project, else empty. */
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
  /** Who said it in its source; empty where nobody is known. */
  readonly actor: string;
  /** Its place in its source session, from 0. */
  readonly sourceOrdinal: number | undefined;
  readonly saidAt: Date | undefined;
  /** Since when a person vouches for what they did not state. */
  readonly validatedAt: Date | undefined;
  /** What became of a proposal, which is a fact that never held; undefined for every other fact. */
  readonly proposal: ProposalState | undefined;
  /** The fact that a proposal would replace or end; empty for a new one. */
  readonly proposalOf: string;
  readonly proposesEnd: boolean;
  /** What a model takes it to be about, where it has no slot; empty where no model says so. */
  readonly foundSubject: string;
  readonly foundPredicate: string;
}

export type ProposalState = "waiting" | "accepted" | "rejected";

/** A fact that is to be written, before it has an id and a time. */
export type NewFact = Omit<
  Fact,
  "id" | "owner" | "validFrom" | "validTo" | "supersededBy" | "proposal" | "proposalOf" | "proposesEnd" | "foundSubject" | "foundPredicate"
>;
