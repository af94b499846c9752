import { readLooseJson } from "./loose-json.ts";
import type { ToolNames } from "./tool-names.ts";
import { callOfObject, jsonOf, type WrittenCall } from "./written-call.ts";

/** Of one text: each is read once, and may be as long as the text. */
const MAXIMUM_OBJECTS = 60;
/** How an object begins that can be a call: with a name, an id or the arguments. */
const BEGINNING =
  /\{\s*["']?(?:id|type|name|tool|tool_name|function|function_name|action|recipient_name|arguments|parameters|args|input|params)["']?\s*[:=]/g;
/** Right before a call, or the list that it is in: Hermes and Qwen, Mistral, Llama, Phi and Granite, Phi-4-mini, Command R. */
const OPENING =
  /(?:<\/?tool_calls?>|<\/?function_calls?>|<\/?tool>|\[TOOL_CALLS\]|<\|python_tag\|>|<\|\/?tool_calls?\|>|functools|Action:)\s*\[?\s*$/;
/** Right behind it: the opening tag is what small models forget. */
const CLOSING = /^\s*\]?\s*(?:<\/tool_calls?>|<\/function_calls?>|<\/tool>|<\|\/?tool_calls?\|>|<\|tool_call_end\|>|<\/s>)/;

/** Objects that are calls, wherever in the text. */
export function findJsonCalls(text: string, names: ToolNames): WrittenCall[] {
  const calls: WrittenCall[] = [];
  let [from, tries] = [0, 0];
  for (const { index: start } of text.matchAll(BEGINNING)) {
    if (start < from) continue;
    if (++tries > MAXIMUM_OBJECTS) break;
    const read = readLooseJson(text, start);
    const call = read === undefined ? undefined : callOfObject(read.value, names);
    if (read === undefined || call === undefined) continue;
    const isNext = calls.at(-1)?.isMarked === true && /^\s*[,;]?\s*$/.test(text.slice(calls.at(-1)!.end, start));
    const isMarked =
      isNext || OPENING.test(text.slice(Math.max(0, start - 64), start)) || CLOSING.test(text.slice(read.end, read.end + 64));
    const argumentsJson = read.isCut ? jsonOf(read, text, start) : call.argumentsJson;
    calls.push({ tool: call.tool, argumentsJson, start, end: read.end, isMarked });
    from = read.end;
  }
  return calls;
}
