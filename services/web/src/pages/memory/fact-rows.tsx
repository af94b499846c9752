import { enumWord } from "@hlvm/ndjson/enum-word";
import { replacedFacts } from "@hlvm/ndjson/replaced-facts";
import { FactOrigin, FactScopeSchema, type Fact, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ArrowLeftRight, Circle, CircleStop, Pin } from "lucide-react";
import { shownProse } from "../../parts/shown-text.ts";
import { personName } from "../../parts/words.ts";
import { changeIcon, changeWord } from "./change-marks.ts";
import type { MemoryRow } from "./memory-list.tsx";

const ORIGINS: Readonly<Record<number, string>> = {
  [FactOrigin.USER_STATED]: "stated",
  [FactOrigin.MODEL_INFERRED]: "inferred",
  [FactOrigin.SYSTEM_GENERATED]: "generated",
};

interface Opening {
  /** Of the fact that is open. */
  readonly opened: string;
  readonly onOpen: (factId: string) => void;
}

export function changeRow(change: FactChange, { opened, onOpen }: Opening): MemoryRow {
  const { changeId, at, fact, principal } = change;
  const factId = fact?.factId ?? "";
  const replaced = replacedFacts(change);
  return {
    ...aboutFact(fact),
    key: changeId,
    at,
    icon: changeIcon(change),
    what: changeWord(change),
    text: (
      <>
        {replaced.map((old) => (
          <s key={old.factId} title={old.text}>
            {shownProse(wordsGone(old.text, fact?.text ?? ""))}
          </s>
        ))}
        {shownProse(fact?.text ?? "")}
      </>
    ),
    by: personName(principal) || "unknown",
    isChosen: factId === opened,
    onOpen: () => onOpen(factId),
  };
}

export function factRow(fact: Fact, { opened, onOpen }: Opening): MemoryRow {
  const { factId, validFrom, text, writtenBy, pinned } = fact;
  const what = factState(fact);
  return {
    ...aboutFact(fact),
    key: factId,
    at: validFrom,
    icon: what === "replaced" ? ArrowLeftRight : what === "ended" ? CircleStop : pinned ? Pin : Circle,
    what,
    text: what === "replaced" || what === "ended" ? <del>{shownProse(text)}</del> : shownProse(text),
    by: personName(writtenBy),
    isChosen: factId === opened,
    onOpen: () => onOpen(factId),
  };
}

/** The words of a text that another one does not begin or end with as well: what it says otherwise. */
function wordsGone(before: string, now: string): string {
  const [old, next] = [before.split(/\s+/), now.split(/\s+/)];
  let start = 0;
  while (start < old.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return old.slice(start, old.length - end).join(" ") || before;
}

export function factState({ validTo, supersededBy, pinned }: Fact): string {
  if (validTo !== undefined) return supersededBy === "" ? "ended" : "replaced";
  return pinned ? "pinned" : "holds";
}

export function originWord(origin: FactOrigin): string {
  return ORIGINS[origin] ?? "";
}

function aboutFact(fact: Fact | undefined): { readonly scope: string; readonly origin: string } {
  return { scope: fact === undefined ? "" : enumWord(FactScopeSchema, fact.scope), origin: originWord(fact?.origin ?? 0) };
}
