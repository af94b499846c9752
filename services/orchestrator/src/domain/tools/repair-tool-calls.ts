/** A tool call that a model wrote as text, because it does not know how to make a real one. */
export interface RepairedCalls {
  readonly calls: readonly { readonly tool: string; readonly argumentsJson: string }[];
  /** The text without them. */
  readonly text: string;
}

const MAXIMUM_CANDIDATES = 50;
const NAME_FIELDS = ["name", "tool", "tool_name", "function"];
const ARGUMENT_FIELDS = ["arguments", "parameters", "args", "input"];
/** What models put around a call; an opening tag is often missing. */
const WRAPPING = /<\/?(?:tool_call|function_call|tool)>|```(?:json|tool_call)?/g;

/** Finds calls of known tools in a text: JSON objects that name one, in a code fence, in tags or bare. */
export function repairToolCalls(text: string, tools: ReadonlySet<string>): RepairedCalls | undefined {
  const calls: { tool: string; argumentsJson: string }[] = [];
  let rest = "";
  let from = 0;
  for (let tried = 0; tried < MAXIMUM_CANDIDATES; tried++) {
    const start = text.indexOf("{", from);
    if (start < 0) break;
    const end = endOfObject(text, start);
    const call = end === undefined ? undefined : callOf(text.slice(start, end), tools);
    const next = call === undefined ? start + 1 : end!;
    rest += text.slice(from, call === undefined ? next : start);
    if (call !== undefined) calls.push(call);
    from = next;
  }
  if (calls.length === 0) return undefined;
  return { calls, text: (rest + text.slice(from)).replace(WRAPPING, "").trim() };
}

/** One past the brace that closes the object; undefined where none does. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (isInString) {
      if (character === "\\") index++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return index + 1;
  }
  return undefined;
}

function callOf(json: string, tools: ReadonlySet<string>): { tool: string; argumentsJson: string } | undefined {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (isObject(value.function)) value = value.function;
  const tool = NAME_FIELDS.map((field) => value[field]).find((name) => typeof name === "string" && tools.has(name)) as string | undefined;
  const given = ARGUMENT_FIELDS.map((field) => value[field]).find((argument) => argument !== undefined);
  if (tool === undefined) return undefined;
  return { tool, argumentsJson: typeof given === "string" ? given : JSON.stringify(given ?? {}) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
