import { findJsonCalls } from "./repair/find-json-calls.ts";
import { findNamedCalls } from "./repair/find-named-calls.ts";
import { findPythonCalls } from "./repair/python-arguments.ts";
import { findTagCalls } from "./repair/tagged-arguments.ts";
import { isMeant } from "./repair/is-meant.ts";
import { ToolNames } from "./repair/tool-names.ts";
import type { WrittenCall } from "./repair/written-call.ts";

/** Tool calls that a model wrote as text, because it does not know how to make real ones. */
export interface RepairedCalls {
  readonly calls: readonly { readonly tool: string; readonly argumentsJson: string }[];
  /** The text without them. */
  readonly text: string;
}

/** A longer text is an answer, whatever is in it; half of it is looked at in well under a second. */
const MAXIMUM_LENGTH = 512 * 1024;
/** A call would be the model's own words, and so short a piece may stand in anything. */
const SHORTEST_QUOTE = 12;
/** What is left of what models put around calls. */
const WRAPPING =
  /<\/?(?:tool_calls?|function_calls?|function|invoke|tool|parameter|s)\b[^<>\n]{0,64}>|```(?:json|tool_call|tool_code|python)?[ \t]*\n?[\s\][,;]*```|\[\/?TOOL_CALLS\]|<\|python_tag\|>|<\|\/?tool_calls?\|>|<｜[^｜\n]{1,32}｜>|<\|tool_calls?[a-z_]{0,32}\|>|<(?:start|end)_function_call>|<\|(?:call|eom_id|eot_id|im_end|start|channel|message|constrain)\|>|functools(?=\s*\[\s*[,\s]*\])/g;
/** What Command R and ReAct announce a call with. */
const LAST_ACTION = /(?:^|\n)Action:\s*$/;
const EMPTY_LIST = /\[[\s,]*\]/g;

/**
 * Finds the calls in an answer of a model that has no other way to make them. Only tools that are offered are called. A call that
 * is merely shown is none: see `isMeant`; nor is one that stands word for word in what the model was given to read.
 * @param wasGiven whether this text is in a tool's result or an attachment of the conversation
 */
export function repairToolCalls(
  text: string,
  tools: ReadonlySet<string>,
  wasGiven: (text: string) => boolean = () => false,
): RepairedCalls | undefined {
  if (text.length > MAXIMUM_LENGTH) return undefined;
  const names = new ToolNames(tools);
  const found = [findNamedCalls, findTagCalls, findJsonCalls, findPythonCalls].flatMap((find) => find(text, names));
  const apart = withoutOverlaps(found);
  const meant = apart.filter((call) => isMeant(call, apart, text)).filter((call) => !isQuoted(text.slice(call.start, call.end), wasGiven));
  if (meant.length === 0) return undefined;
  let rest = "";
  let from = 0;
  for (const { start, end } of meant) {
    rest += text.slice(from, start);
    from = end;
  }
  rest += text.slice(from);
  const left = rest
    .replaceAll(WRAPPING, "")
    .replaceAll(EMPTY_LIST, (list) => (text.includes(list) ? list : ""))
    .replace(LAST_ACTION, "")
    .trim();
  return { calls: meant.map(({ tool, argumentsJson }) => ({ tool, argumentsJson })), text: left };
}

/** Of calls that several ways of reading found in one place the one that begins first, and then the marked one. */
function withoutOverlaps(calls: readonly WrittenCall[]): WrittenCall[] {
  const sorted = calls.toSorted(
    (one, other) => one.start - other.start || Number(other.isMarked) - Number(one.isMarked) || other.end - one.end,
  );
  const kept: WrittenCall[] = [];
  for (const call of sorted) if (call.start >= (kept.at(-1)?.end ?? 0)) kept.push(call);
  return kept;
}

function isQuoted(written: string, wasGiven: (text: string) => boolean): boolean {
  return written.length >= SHORTEST_QUOTE && wasGiven(written);
}
