import type { Fact, FactScope } from "./fact.ts";

/** What a proposal would replace or end. */
export interface ProposedPlace {
  /** Empty for a new fact. */
  readonly of: string;
  readonly ends: boolean;
}

/** The inbox of a viewer: facts that hold only once a person accepts them. */
export interface Proposals {
  /** The one that waits and would do the same. */
  same(
    keys: { readonly audience: string; readonly slot: string; readonly textKey: string },
    place: ProposedPlace,
  ): Promise<Fact | undefined>;
  /** How many of the viewer's own wait, counted up to the limit. */
  countOwn(audience: string, limit: number): Promise<number>;
  /** Those that wait, the oldest first. */
  waiting(scope: FactScope | undefined, limit: number): Promise<Fact[]>;
  settle(id: string, state: "accepted" | "rejected"): Promise<Fact>;
}
