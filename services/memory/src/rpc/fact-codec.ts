import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  FactOrigin as EncodedOrigin,
  FactSchema,
  FactScope as EncodedScope,
  FactType as EncodedType,
  ProposalState as EncodedProposal,
  SearchSource,
  type Fact as EncodedFact,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { Fact, FactOrigin, FactScope, FactType, ProposalState } from "../domain/fact.ts";
import type { FactSearch } from "../domain/search-facts.ts";

const TYPES: Readonly<Record<FactType, EncodedType>> = {
  user: EncodedType.USER,
  feedback: EncodedType.FEEDBACK,
  project: EncodedType.PROJECT,
  reference: EncodedType.REFERENCE,
};
const SCOPES: Readonly<Record<FactScope, EncodedScope>> = {
  personal: EncodedScope.PERSONAL,
  team: EncodedScope.TEAM,
  project: EncodedScope.PROJECT,
};
const ORIGINS: Readonly<Record<FactOrigin, EncodedOrigin>> = {
  "user-stated": EncodedOrigin.USER_STATED,
  "model-inferred": EncodedOrigin.MODEL_INFERRED,
  "system-generated": EncodedOrigin.SYSTEM_GENERATED,
};
const PROPOSALS: Readonly<Record<ProposalState, EncodedProposal>> = {
  waiting: EncodedProposal.WAITING,
  accepted: EncodedProposal.ACCEPTED,
  rejected: EncodedProposal.REJECTED,
};
const SOURCES: Readonly<Record<FactSearch["source"], SearchSource>> = { index: SearchSource.INDEX, database: SearchSource.DATABASE };

export function encodeFact(fact: Fact): EncodedFact {
  return create(FactSchema, {
    factId: fact.id,
    text: fact.text,
    category: fact.category,
    type: TYPES[fact.type],
    scope: SCOPES[fact.scope],
    origin: ORIGINS[fact.origin],
    subject: fact.subject,
    predicate: fact.predicate,
    tags: [...fact.tags],
    pinned: fact.pinned,
    project: fact.project,
    writtenBy: fact.owner,
    sourceSessionId: fact.sourceSessionId,
    validFrom: timestampFromDate(fact.validFrom),
    validTo: fact.validTo === undefined ? undefined : timestampFromDate(fact.validTo),
    supersededBy: fact.supersededBy,
    actor: fact.actor,
    sourceOrdinal: fact.sourceOrdinal,
    saidAt: fact.saidAt && timestampFromDate(fact.saidAt),
    validatedAt: fact.validatedAt && timestampFromDate(fact.validatedAt),
    proposal: fact.proposal && PROPOSALS[fact.proposal],
    proposalOf: fact.proposalOf,
    proposesEnd: fact.proposesEnd,
    foundSubject: fact.foundSubject,
    foundPredicate: fact.foundPredicate,
  });
}

export function encodeOrigin(origin: FactOrigin): EncodedOrigin {
  return ORIGINS[origin];
}

export function encodeSource(source: FactSearch["source"]): SearchSource {
  return SOURCES[source];
}

/** Undefined for UNSPECIFIED. */
export function decodeType(type: EncodedType): FactType | undefined {
  return keyOf(TYPES, type);
}

/** Undefined for UNSPECIFIED. */
export function decodeScope(scope: EncodedScope): FactScope | undefined {
  return keyOf(SCOPES, scope);
}

/** Undefined for UNSPECIFIED. */
export function decodeOrigin(origin: EncodedOrigin): FactOrigin | undefined {
  return keyOf(ORIGINS, origin);
}

function keyOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>, value: Value): Key | undefined {
  return (Object.keys(table) as Key[]).find((key) => table[key] === value);
}
