import { readLooseJson, type LooseValue } from "./loose-json.ts";
import type { ToolNames } from "./tool-names.ts";

/** A tool call that was written as text. */
export interface WrittenCall {
  readonly tool: string;
  /** As the model wrote them; where they end too early they are no JSON, and whoever checks them says so. */
  readonly argumentsJson: string;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
  /** Written as only a call is: with the tokens or tags that a model was trained to make calls with. */
  readonly isMarked: boolean;
}

const NAME_FIELDS = ["name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"];
const ARGUMENT_FIELDS = ["arguments", "parameters", "args", "input", "params", "action_input", "tool_input", "kwargs"];

/** The call that an object is: `{"name": …, "arguments": …}` in its many spellings, also one inside another (`function`). */
export function callOfObject(value: unknown, names: ToolNames): Pick<WrittenCall, "tool" | "argumentsJson"> | undefined {
  if (!isObject(value)) return undefined;
  if (isObject(value.function)) return callOfObject(value.function, names);
  const tool = NAME_FIELDS.map((field) => names.find(value[field])).find((name) => name !== undefined);
  if (tool === undefined) return undefined;
  const given = ARGUMENT_FIELDS.map((field) => value[field]).find((argument) => argument !== undefined);
  if (given !== undefined) return { tool, argumentsJson: typeof given === "string" ? given : JSON.stringify(given) };
  // Some models write the arguments beside the name.
  const rest = Object.fromEntries(
    Object.entries(value).filter(([field]) => !NAME_FIELDS.includes(field) && !["id", "type"].includes(field)),
  );
  return { tool, argumentsJson: JSON.stringify(rest) };
}

/** Arguments that stand in the text as an object; where they were cut, as they are. */
export function argumentsAt(text: string, at: number): { readonly argumentsJson: string; readonly end: number } | undefined {
  const read = text[at] === "{" ? readLooseJson(text, at) : undefined;
  if (read === undefined || !isObject(read.value)) return undefined;
  return { argumentsJson: jsonOf(read, text, at), end: read.end };
}

/** What ended within a text is given on as it stands: half of a file is not written. */
export function jsonOf(read: LooseValue, text: string, start: number): string {
  return read.isCut ? text.slice(start, read.end) : JSON.stringify(read.value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
