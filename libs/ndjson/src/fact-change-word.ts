import { FactChangeKind, FactChangeKindSchema, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { enumWord } from "./enum-word.ts";

/** What was done: `replaced`, `undone: ended`. */
export function factChangeWord({ kind, undoneKind }: Pick<FactChange, "kind" | "undoneKind">): string {
  const word = enumWord(FactChangeKindSchema, kind);
  return kind === FactChangeKind.UNDONE ? `${word}: ${enumWord(FactChangeKindSchema, undoneKind)}` : word;
}
