import type { TextRange } from "../shell/text-range.ts";

/** `escaped` is a stand-in for what cannot be seen, `marked` the part that made policy ask. */
export type SpanKind = "plain" | "label" | "escaped" | "marked";

export interface RenderedSpan {
  readonly text: string;
  readonly kind: SpanKind;
}

/** It begins an argument where its first span is a label, else it goes on with the one before. */
export type RenderedLine = readonly RenderedSpan[];

/** A call's arguments for a person: nothing hides in it, and nothing of them is lost. */
export interface ApprovalRendering {
  readonly lines: readonly RenderedLine[];
  /** Of the lines at the end that were too many to be shown. */
  readonly omittedCharacters: number;
}

/** What made policy ask, by the argument's name: ordered, and apart from each other. */
export type MarkedParts = ReadonlyMap<string, readonly TextRange[]>;
