import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import type { FactChange } from "./fact-change.ts";
import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { placeFact, placeOf } from "./place-fact.ts";
import { changeMade } from "./change-made.ts";
import { demandTeamRight, lockedFact, validFact } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";

/**
 * Does what was proposed. The fact keeps the origin that it had, and a person vouches for it from now on.
 * @throws HlvmError `proposal_not_found`, `proposal_decided`, `fact_ended`, `team_fact_refused`
 */
export async function acceptProposal(facts: ScopedFacts, viewer: Viewer, id: string): Promise<FactChange> {
  const proposal = await waitingProposal(facts, viewer, id);
  if (proposal.proposesEnd) {
    const target = await validFact(facts, viewer, proposal.proposalOf);
    await facts.end(target.id, "");
    await facts.proposals.settle(id, "accepted");
    return changeMade(facts, facts.history.record("accepted", target.id));
  }
  const target = proposal.proposalOf === "" ? undefined : await facts.find(proposal.proposalOf);
  const present = target?.validTo === undefined ? target : undefined;
  const draft = { ...proposal, validatedAt: new Date() };
  const { fact } = await placeFact(facts, draft, await placeOf(facts, viewer, draft, present));
  await facts.proposals.settle(id, "accepted");
  return changeMade(facts, facts.history.record("accepted", fact.id));
}

/** @throws HlvmError `proposal_not_found`, `proposal_decided`, `team_fact_refused` */
export async function rejectProposal(facts: ScopedFacts, viewer: Viewer, id: string): Promise<FactChange> {
  await waitingProposal(facts, viewer, id);
  await facts.proposals.settle(id, "rejected");
  return changeMade(facts, facts.history.record("rejected", id));
}

/** Whether this person may decide what was proposed: who may write such a fact may. */
export function mayDecide(viewer: Viewer, { scope }: Fact): boolean {
  return scope !== "team" || viewer.mayWriteTeamFacts;
}

async function waitingProposal(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  const proposal = await lockedFact(facts, (fact) => audienceOf(viewer.organization, fact), id);
  if (proposal?.proposal === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "proposal_not_found",
      message: `There is no proposal ${id} that you can see here.`,
      advice: "hlvm memory inbox list shows what waits.",
    });
  if (proposal.proposal !== "waiting")
    throw new HlvmError({
      code: "failed_precondition",
      reason: "proposal_decided",
      message: `It was ${proposal.proposal} already.`,
      advice: `hlvm memory undo ${id} takes that back.`,
    });
  demandTeamRight(viewer, proposal);
  return proposal;
}
