import { visibleText, type VisiblePiece } from "@hlvm/visible-text/visible-text";
import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { TextRange } from "../shell/text-range.ts";
import type { MarkedParts, RenderedLine, RenderedSpan } from "./approval-rendering.ts";

/** What says where and how comes before what may be long; arguments that are not named here come before the command. */
const FIRST = ["path", "working_directory", "timeout_seconds", "replace_all"];
const LAST = ["command", "old_text", "new_text", "content"];

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Every argument, whole: the lines can be read back, so arguments that differ never come out the same. */
export function renderArguments(values: { readonly [name: string]: JsonValue }, marked: MarkedParts): RenderedLine[] {
  const names = Object.keys(values).toSorted((one, other) => place(one) - place(other) || (one < other ? -1 : 1));
  return names.flatMap((name) => renderArgument(name, values[name]!, marked.get(name) ?? []));
}

function place(name: string): number {
  const first = FIRST.indexOf(name);
  return first >= 0 ? first - FIRST.length : LAST.indexOf(name) + 1;
}

function renderArgument(name: string, value: JsonValue, marked: readonly TextRange[]): RenderedLine[] {
  const isText = typeof value === "string";
  const label: RenderedSpan = { text: `${labelOf(name)}${isText ? ":" : " ="}`, kind: "label" };
  const [first = [], ...rest] = visibleText(isText ? value : JSON.stringify(value)).map((line) => spansOf(line, isText ? marked : []));
  return [[label, ...first], ...rest];
}

/** A name of other characters is written as JSON in ASCII, in which no blanks stand in a row. */
function labelOf(name: string): string {
  if (NAME.test(name)) return name;
  return JSON.stringify(name).replace(/[^ -~]| {2,}/g, (text) => text.split("").map(unicodeEscape).join(""));
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function spansOf(line: readonly VisiblePiece[], marked: readonly TextRange[]): RenderedSpan[] {
  return line.flatMap((piece) => (piece.isEscaped ? [{ text: piece.text, kind: "escaped" as const }] : plainSpans(piece, marked)));
}

function plainSpans({ start, end, text }: VisiblePiece, marked: readonly TextRange[]): RenderedSpan[] {
  const spans: RenderedSpan[] = [];
  let at = start;
  const add = (until: number, kind: "plain" | "marked"): void => {
    if (until > at) spans.push({ text: text.slice(at - start, until - start), kind });
    at = Math.max(at, until);
  };
  for (const range of marked) {
    if (range.end <= start || range.start >= end) continue;
    add(range.start, "plain");
    add(Math.min(range.end, end), "marked");
  }
  add(end, "plain");
  return spans;
}
