import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";
import { STAND_IN_BRACKETS } from "@hlvm/visible-text/hidden-character";
import { visibleLine, visibleText, type VisiblePiece } from "@hlvm/visible-text/visible-text";
import { printableLine } from "../terminal/printable.ts";

/** Texts that differ by more are shown as they are now, whole. */
const COMPARISON = { context: 3, maxEditLength: 2_000, timeout: 500 };

/** A file with instructions as it is now, and as it was when it was trusted. */
export interface ShownInstruction {
  readonly path: string;
  /** Undefined where it is gone. */
  readonly text?: string;
  readonly trustedText?: string;
  /** Why it cannot be read as instructions; empty where it was. */
  readonly refusal: string;
}

export type InstructionChange = "new" | "changed" | "same" | "gone" | "refused";

export function changeOf({ text, trustedText, refusal }: ShownInstruction): InstructionChange {
  if (refusal !== "") return "refused";
  if (text === undefined) return "gone";
  if (trustedText === undefined) return "new";
  return text === trustedText ? "same" : "changed";
}

/**
 * What a person has to see before they trust it: a new text whole, of a changed one the difference. Nothing hides in it: what
 * cannot be seen is shown by a stand-in, which is also what the model is given.
 */
export function instructionLines(file: ShownInstruction): string[] {
  const { path, text = "", trustedText = "", refusal } = file;
  const name = printableLine(path);
  switch (changeOf(file)) {
    case "refused":
      return [`${name}: left out: ${printableLine(refusal)}`];
    case "gone":
      return [`${name}: is gone, and no longer trusted`];
    case "same":
      return [`${name}: as you trusted it`];
    case "new":
      return [`${name}, new:`, ...wholeText(text)];
    case "changed":
      return [`${name}, changed since you trusted it:`, ...(difference(trustedText, text) ?? wholeText(text))];
  }
}

/** As a person is shown it, and as the model is given it. */
export function shownText(text: string): string {
  return visibleText(text).map(joined).join("\n");
}

function wholeText(text: string): string[] {
  return visibleText(text).map((pieces) => `  | ${joined(pieces)}`);
}

function difference(before: string, after: string): string[] | undefined {
  const patch = structuredPatch("", "", before, after, "", "", COMPARISON);
  if (patch === undefined || patch.hunks.length === 0) return undefined;
  const lines = formatPatch(patch, OMIT_HEADERS).replace(/\n$/, "").split("\n");
  return lines.map((line) => `  ${line.slice(0, 1)} ${joined(visibleLine(line.slice(1)))}`);
}

function joined(pieces: readonly VisiblePiece[]): string {
  return pieces.map(({ text, isEscaped }) => (isEscaped ? STAND_IN_BRACKETS.join(text) : text)).join("");
}
