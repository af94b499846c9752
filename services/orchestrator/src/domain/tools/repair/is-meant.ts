import type { WrittenCall } from "./written-call.ts";

/** Fences in which models write calls; one of another language is code that they show. */
const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$/gm;
const CALL_LANGUAGES = new Set(["", "json", "tool_call", "tool_calls", "tool_code", "tool", "function", "xml", "python", "py"]);
/** Words before a call that show what one looks like. */
const SHOWING =
  /\b(for example|for instance|example|e\.g\.|such as|would look|looks? like|the format|syntax|schema|could (?:call|use|write)|you (?:can|could|would|should|need to)|if (?:you|I) (?:want|were))\b/i;
/** What may stand around calls without being an answer's words. */
const NO_WORDS =
  /^(?:[\s,;\][]|<\/?(?:tool_calls?|function_calls?|function|invoke|tool|s|start_function_call|end_function_call)\b[^<>\n]{0,64}>|<[|｜][^<>\n]{1,40}[|｜]>|\[\/?TOOL_CALLS\]|`{3,}\w*|functools|print\(|\))*$/;

interface Region {
  readonly start: number;
  readonly end: number;
  readonly language: string;
  /** What is in it, without the fence. */
  readonly from: number;
  readonly to: number;
}

/**
 * Whether the model makes this call, or shows one. The rules, in their order:
 * 1. In inline code or a quoted block (`>`) it is shown.
 * 2. In a fence it is made only where the fence is one for calls, holds nothing else, and no words before it say that it is an example.
 * 3. With the tokens or tags of a call around it, it is made: nothing else is written so.
 * 4. Else it is made only where the answer ends with it, as somebody ends who waits for a result, and no words say that it is an
 *    example. One in Python's words has to be the whole line, too.
 */
export function isMeant(call: WrittenCall, all: readonly WrittenCall[], text: string): boolean {
  const lineStart = text.lastIndexOf("\n", call.start - 1) + 1;
  const before = text.slice(lineStart, call.start);
  if (/^\s*>/.test(before) || isInlineCode(call, before, text)) return false;
  const fence = fencesOf(text).find(({ from, to }) => call.start >= from && call.end <= to);
  if (fence !== undefined) {
    if (!CALL_LANGUAGES.has(fence.language) || isShown(text.slice(0, fence.start))) return false;
    if (!isAlone(fence.from, fence.to, all, text)) return false;
    return call.isMarked || isAlone(fence.from, text.length, all, text);
  }
  if (call.isMarked) return true;
  return isAlone(call.start, text.length, all, text) && !isShown(text.slice(0, call.start)) && isWholeLine(call, lineStart, all, text);
}

/** Nothing but calls is there. */
function isAlone(from: number, to: number, all: readonly WrittenCall[], text: string): boolean {
  let at = from;
  for (const { start, end } of all) {
    if (end <= from || start >= to) continue;
    const between = text.slice(at, Math.max(at, start));
    if (between.length > 1_024 || !NO_WORDS.test(between)) return false;
    at = Math.max(at, end);
  }
  const rest = text.slice(at, to);
  return rest.length <= 1_024 && NO_WORDS.test(rest);
}

/** Of the last words before a place. */
function isShown(before: string): boolean {
  const lines = before.slice(-600).trimEnd().split("\n");
  return SHOWING.test(lines.slice(-2).join("\n").slice(-240));
}

function isWholeLine({ start }: WrittenCall, lineStart: number, all: readonly WrittenCall[], text: string): boolean {
  return text[start] === "{" || isAlone(lineStart, start, all, text);
}

function isInlineCode({ start, end }: WrittenCall, before: string, text: string): boolean {
  const opened = before.replaceAll(/`{3,}/g, "").split("`").length % 2 === 0;
  return opened && /^[^`\n]{0,256}`/.test(text.slice(end, end + 257)) && text.slice(start, end).split("\n").length <= 2;
}

function fencesOf(text: string): Region[] {
  const fences: Region[] = [];
  let open: { start: number; from: number; mark: string; language: string } | undefined;
  for (const match of text.matchAll(FENCE)) {
    const [line, mark = "", language = ""] = match;
    if (open === undefined) open = { start: match.index, from: match.index + line.length, mark, language: language.toLowerCase() };
    else if (mark.startsWith(open.mark) && language === "") {
      fences.push({ ...open, to: match.index, end: match.index + line.length });
      open = undefined;
    }
  }
  // One that nothing closes goes on to the end.
  if (open !== undefined) fences.push({ ...open, to: text.length, end: text.length });
  return fences;
}
