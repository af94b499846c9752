import { enumWord } from "@hlvm/ndjson/enum-word";
import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import { FactChangeKind, FactOriginSchema, FactScopeSchema, type Fact, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
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

/** `replaced`, `ended`, `pinned`, or nothing for one that simply holds. */
export function factState({ validTo, supersededBy, pinned }: Fact): string {
  if (validTo !== undefined) return supersededBy === "" ? "ended" : "replaced";
  return pinned ? "pinned" : "";
}

export const CHANGE_HEADINGS = ["TIME", "WHAT", "BY", "SESSION", "FACT", "TEXT"] as const;

export function changeRow(change: FactChange): string[] {
  const { at, principal, sessionId, fact } = change;
  return [localTime(at), factChangeWord(change), principal || "unknown", sessionId.slice(0, 8), fact?.factId ?? "", changeText(change)];
}

/** What is now, and what it took the place of. */
export function changeText({ kind, fact, others }: FactChange): string {
  const text = fact?.text ?? "";
  const replaced = kind === FactChangeKind.REPLACED ? others.map((other) => `"${other.text}"`).join(", ") : "";
  return replaced === "" ? text : `${text}  (in place of ${replaced})`;
}
