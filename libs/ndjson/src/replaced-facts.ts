import { FactChangeKind, ProposalState, type Fact, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";

/** What a change put its fact in the place of. */
export function replacedFacts({ kind, others }: Pick<FactChange, "kind" | "others">): Fact[] {
  if (kind !== FactChangeKind.REPLACED && kind !== FactChangeKind.ACCEPTED) return [];
  return others.filter(({ proposal }) => proposal === ProposalState.UNSPECIFIED);
}
