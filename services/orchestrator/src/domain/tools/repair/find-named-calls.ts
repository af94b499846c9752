import { argumentsOfPython } from "./python-arguments.ts";
import type { ToolNames } from "./tool-names.ts";
import { argumentsAt, type WrittenCall } from "./written-call.ts";
import { argumentsOfTags } from "./tagged-arguments.ts";

/** Each may read up to the end of the text. */
const MAXIMUM_TRIES = 60;
/**
 * What stands before a call's name where its arguments come behind it: Llama and Qwen coder (`<function=`), Claude's style
 * (`<invoke name=`), Mistral, Llama (`<|python_tag|>`), GLM (`<tool_call>`), DeepSeek, Kimi, gpt-oss, Gemma, ReAct.
 */
const BEFORE_NAME =
  /(?:<function=|<invoke name=|<function name=|<tool_call name=|<tool name=|\[TOOL_CALLS\]\s*|<\|python_tag\|>\s*|<tool_call>\s*|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?|<\|tool_call_begin\|>\s*|<\|start\|>assistant to=|to=|<start_function_call>call:|(?:^|\n)Action:\s*)["']?((?:functions?\.)?[A-Za-z_][\w-]{0,63}(?::\d+)?)["']?/g;
/** What may stand between a name and its arguments. */
const BETWEEN =
  /^(?:\s|>|\[ARGS\]|\[CALL_ID\]\w*|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|<\|channel\|>commentary|<\|constrain\|>(?:json)?|<\|message\|>|json(?=\s|<)|```(?:json)?|Action Input:|Arguments:|\.call(?=\())*/;
const END = /^\s*(?:<\/function>|<\/tool_call>|<\/invoke>|<｜tool▁call▁end｜>|<\|tool_call_end\|>|<end_function_call>|<\|call\|>)/;

/** Calls whose name comes first, behind a token or a tag that nothing else has. */
export function findNamedCalls(text: string, names: ToolNames): WrittenCall[] {
  const calls: WrittenCall[] = [];
  let tries = 0;
  for (const match of text.matchAll(BEFORE_NAME)) {
    const tool = names.find(match[1]);
    if (tool === undefined || match.index < (calls.at(-1)?.end ?? 0)) continue;
    if (++tries > MAXIMUM_TRIES) break;
    const behind = match.index + match[0].length;
    const between = BETWEEN.exec(text.slice(behind, behind + 256))?.[0] ?? "";
    const at = behind + between.length;
    const given = argumentsAt(text, at) ?? argumentsOfPython(text, at) ?? argumentsOfTags(text, at) ?? noArguments(text, at);
    if (given === undefined) continue;
    const fence = between.includes("```") ? (/^\s*```/.exec(text.slice(given.end, given.end + 64))?.[0].length ?? 0) : 0;
    const isReAct = match[0].trimStart().startsWith("Action:");
    calls.push({
      tool,
      argumentsJson: given.argumentsJson,
      start: match.index,
      end: given.end + fence,
      isMarked: !isReAct || /Action Input:/.test(between),
    });
  }
  return calls;
}

function noArguments(text: string, at: number): { argumentsJson: string; end: number } | undefined {
  return END.test(text.slice(at, at + 64)) || text.slice(at).trim() === "" ? { argumentsJson: "{}", end: at } : undefined;
}
