import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import { FactChangeKind, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ArrowLeftRight, Check, CircleStop, Inbox, Pin, PinOff, Plus, Undo2, X, type LucideIcon } from "lucide-react";

const ICONS: Readonly<Record<number, LucideIcon>> = {
  [FactChangeKind.REPLACED]: ArrowLeftRight,
  [FactChangeKind.ENDED]: CircleStop,
  [FactChangeKind.PINNED]: Pin,
  [FactChangeKind.UNPINNED]: PinOff,
  [FactChangeKind.UNDONE]: Undo2,
  [FactChangeKind.PROPOSED]: Inbox,
  [FactChangeKind.ACCEPTED]: Check,
  [FactChangeKind.REJECTED]: X,
};

export function changeIcon({ kind }: FactChange): LucideIcon {
  return ICONS[kind] ?? Plus;
}

/** What was learnt is written. */
export function changeWord(change: FactChange): string {
  return factChangeWord(change).replaceAll("written", "learnt");
}
