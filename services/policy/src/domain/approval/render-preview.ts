import { visibleLine } from "@hlvm/visible-text/visible-text";
import type { ApprovalRendering, RenderedLine, RenderedSpan } from "./approval-rendering.ts";
import { limitRendering } from "./limit-rendering.ts";

/** Of its lines that a message holds. */
const MAXIMUM_BYTES = 2 * 1024 * 1024;
const MARKS = /^[-+ \\]/;

/** The hunks of a diff for a person: nothing hides in a line, and its first span says what becomes of it. */
export function renderPreview(diff: string): ApprovalRendering {
  if (diff === "") return { lines: [], omittedCharacters: 0 };
  return limitRendering(diff.split("\n").map(lineOf), MAXIMUM_BYTES);
}

function lineOf(line: string): RenderedLine {
  if (!MARKS.test(line)) return [{ text: line, kind: "plain" }];
  const rest = visibleLine(line.slice(1)).map(({ text, isEscaped }): RenderedSpan => ({ text, kind: isEscaped ? "escaped" : "plain" }));
  return [{ text: line[0]!, kind: "plain" }, ...rest];
}
