import { enumWord } from "@hlvm/ndjson/enum-word";
import { replacedFacts } from "@hlvm/ndjson/replaced-facts";
import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import {
  FactOriginSchema,
  FactScopeSchema,
  ProposalState,
  ProposalStateSchema,
  type Fact,
  type FactChange,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { localTime } from "../output/local-time.ts";

export const FACT_HEADINGS = ["FACT", "WRITTEN", "SCOPE", "ORIGIN", "BY", "STATE", "TEXT"] as const;

export function factRow(fact: Fact): string[] {
  const { factId, validFrom, scope, origin, writtenBy, text } = fact;
  return [
    factId,
    localTime(validFrom),
    enumWord(FactScopeSchema, scope),
    enumWord(FactOriginSchema, origin),
    writtenBy,
    factState(fact),
    text,
  ];
}

/** `replaced`, `ended`, `pinned`, what became of a proposal, or nothing for one that simply holds. */
export function factState({ validTo, supersededBy, pinned, proposal }: Fact): string {
  if (proposal !== ProposalState.UNSPECIFIED) return `proposal ${enumWord(ProposalStateSchema, proposal)}`;
  if (validTo !== undefined) return supersededBy === "" ? "ended" : "replaced";
  return pinned ? "pinned" : "";
}

export const CHANGE_HEADINGS = ["TIME", "WHAT", "BY", "SESSION", "FACT", "TEXT"] as const;

export function changeRow(change: FactChange): string[] {
  const { at, principal, sessionId, fact } = change;
  return [localTime(at), factChangeWord(change), principal || "unknown", sessionId.slice(0, 8), fact?.factId ?? "", changeText(change)];
}

/** What is now, and what it took the place of. */
export function changeText(change: FactChange): string {
  const text = change.fact?.text ?? "";
  const replaced = replacedFacts(change)
    .map((other) => `"${other.text}"`)
    .join(", ");
  return replaced === "" ? text : `${text}  (in place of ${replaced})`;
}
