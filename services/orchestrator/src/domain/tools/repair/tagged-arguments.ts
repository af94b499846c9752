import type { ToolNames } from "./tool-names.ts";
import { plainName } from "./argument-names.ts";
import type { WrittenCall } from "./written-call.ts";

/** Each may be looked for up to the end of the text. */
const MAXIMUM_TRIES = 60;
/** One argument: Qwen coder, Claude's style, GLM. */
const PARAMETER =
  /^\s*(?:<parameter=([\w-]{1,64})>|<parameter name=["']([\w-]{1,64})["'][^>]{0,64}>|<arg_key>\s*([\w-]{1,64})\s*<\/arg_key>\s*<arg_value>)/;
const PARAMETER_END = /<\/parameter>|<\/arg_value>/;
/** A tag with the tool's own name, with the arguments as tags in it. */
const TOOL_TAG = /<([a-z][\w-]{2,63})>/gi;
const ARGUMENT_TAG = /^\s*<([a-z][\w-]{0,63})>/i;

interface Given {
  readonly argumentsJson: string;
  readonly end: number;
}

/** Arguments as tags, one behind the other; every one of them a text. */
export function argumentsOfTags(text: string, start: number): Given | undefined {
  const found: Record<string, string> = {};
  let at = start;
  for (;;) {
    const opening = PARAMETER.exec(text.slice(at, at + 256));
    if (opening === null) break;
    const from = at + opening[0].length;
    const rest = text.slice(from);
    const closing = PARAMETER_END.exec(rest);
    // What ends before its end lost something: it is given on as it is, and is no JSON.
    if (closing === null) return { argumentsJson: text.slice(start), end: text.length };
    put(
      found,
      opening.slice(1).find((name) => name !== undefined)!,
      rest.slice(0, closing.index),
    );
    at = from + closing.index + closing[0].length;
  }
  return at === start ? undefined : { argumentsJson: JSON.stringify(found), end: at };
}

/** `<read_file><path>a</path></read_file>`, as assistants in editors are told to write it. */
export function findTagCalls(text: string, names: ToolNames): WrittenCall[] {
  const calls: WrittenCall[] = [];
  let tries = 0;
  for (const { 0: tag, 1: name = "", index } of text.matchAll(TOOL_TAG)) {
    const tool = names.find(name);
    // A tag such as <bash> means something else as well: only the tool's own name is taken for a call.
    if (tool === undefined || plainName(tool) !== plainName(name) || index < (calls.at(-1)?.end ?? 0)) continue;
    if (++tries > MAXIMUM_TRIES) break;
    const end = text.indexOf(`</${name}>`, index);
    if (end < 0) continue;
    const argumentsJson = childrenOf(text.slice(index + tag.length, end));
    if (argumentsJson !== undefined) calls.push({ tool, argumentsJson, start: index, end: end + name.length + 3, isMarked: true });
  }
  return calls;
}

function childrenOf(inner: string): string | undefined {
  const found: Record<string, string> = {};
  let at = 0;
  for (;;) {
    const opening = ARGUMENT_TAG.exec(inner.slice(at, at + 128));
    if (opening === null) break;
    const from = at + opening[0].length;
    const end = inner.indexOf(`</${opening[1]!}>`, from);
    if (end < 0) return undefined;
    put(found, opening[1]!, inner.slice(from, end));
    at = end + opening[1]!.length + 3;
  }
  return inner.slice(at).trim() === "" ? JSON.stringify(found) : undefined;
}

/** The line ends around a text are the tags' own. */
function put(found: Record<string, string>, name: string, text: string): void {
  const value = text.replace(/^\r?\n/, "").replace(/\r?\n[ \t]*$/, "");
  Object.defineProperty(found, name, { value, enumerable: true, configurable: true, writable: true });
}
