import type { HandlerContext } from "@connectrpc/connect";
import type { AcceptProposalRequest, ListProposalsRequest, RejectProposalRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { acceptProposal, mayDecide, rejectProposal } from "../domain/decide-proposal.ts";
import type { FactPorts } from "../domain/projects.ts";
import { encodeChange } from "./fact-change-codec.ts";
import { decodeScope, encodeFact } from "./fact-codec.ts";
import { personsViewer, viewerOf } from "./viewer-of.ts";

const DEFAULT_LIMIT = 50;

export function listProposalsHandler({ store, projects }: FactPorts) {
  return async ({ project, scope, limit: asked }: ListProposalsRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, projects, project);
    const limit = asked || DEFAULT_LIMIT;
    return store.inScope(viewer, async (facts) => {
      const waiting = await facts.proposals.waiting(decodeScope(scope), limit + 1);
      const proposals = [];
      for (const fact of waiting.slice(0, limit)) {
        const present = fact.proposalOf === "" ? undefined : await facts.find(fact.proposalOf);
        proposals.push({ fact: encodeFact(fact), present: present && encodeFact(present), mayDecide: mayDecide(viewer, fact) });
      }
      return { proposals, moreExist: waiting.length > limit };
    });
  };
}

export function acceptProposalHandler({ store, projects }: FactPorts) {
  return async ({ proposalId, project }: AcceptProposalRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, project);
    return { change: encodeChange(await store.inScope(viewer, (facts) => acceptProposal(facts, viewer, proposalId))) };
  };
}

export function rejectProposalHandler({ store, projects }: FactPorts) {
  return async ({ proposalId, project }: RejectProposalRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, project);
    return { change: encodeChange(await store.inScope(viewer, (facts) => rejectProposal(facts, viewer, proposalId))) };
  };
}
