import { readLooseJson } from "./loose-json.ts";
import type { ToolNames } from "./tool-names.ts";
import { jsonOf, type WrittenCall } from "./written-call.ts";

const MAXIMUM_ARGUMENTS = 32;
/** Each may read up to the end of the text. */
const MAXIMUM_TRIES = 60;
/** A call that begins its line, or stands in a list of calls: Gemma, Llama 4, and whatever else learnt from Python. */
const CALL = /(?:^|\n|\[|,\s*)[ \t]*(?:print\()?(?:\w+\s*=\s*)?(?:await\s+)?(?:default_api\.|functions?\.)?([A-Za-z_][\w-]{0,63})(?=\()/g;

interface Given {
  readonly argumentsJson: string;
  readonly end: number;
}

/** `(path="a", depth=2)`, read as an object. Arguments without a name say nothing to a tool. */
export function argumentsOfPython(text: string, start: number): Given | undefined {
  if (text[start] !== "(") return undefined;
  const found: Record<string, unknown> = {};
  let at = start + 1;
  for (let count = 0; count <= MAXIMUM_ARGUMENTS; count++) {
    at += blanks(text, at);
    if (text[at] === ")") return { argumentsJson: JSON.stringify(found), end: at + 1 };
    const name = /^([A-Za-z_]\w{0,63})\s*[=:]\s*/.exec(text.slice(at, at + 128));
    if (name === null) return undefined;
    at += name[0].length;
    const read = readLooseJson(text, at);
    if (read === undefined) return undefined;
    if (read.isCut || read.isOpen) return { argumentsJson: jsonOf({ ...read, isCut: true }, text, start), end: read.end };
    Object.defineProperty(found, name[1]!, { value: read.value, enumerable: true, configurable: true, writable: true });
    at = read.end + blanks(text, read.end);
    if (text[at] === ",") at++;
    else if (text[at] !== ")") return undefined;
  }
  return undefined;
}

/** Calls in Python's words. A token before them marks them; else where they stand decides whether they are meant. */
export function findPythonCalls(text: string, names: ToolNames): WrittenCall[] {
  const calls: WrittenCall[] = [];
  let tries = 0;
  for (const match of text.matchAll(CALL)) {
    const tool = names.find(match[1]);
    const behind = match.index + match[0].length;
    if (tool === undefined || match.index < (calls.at(-1)?.end ?? 0)) continue;
    if (++tries > MAXIMUM_TRIES) break;
    const given = argumentsOfPython(text, behind);
    if (given === undefined) continue;
    const start = match.index + match[0].search(/\S/);
    const around = /^\s*[[,]/.test(match[0]) ? /^\s*\]/ : match[0].includes("print(") ? /^\s*\)/ : /^/;
    const end = given.end + (around.exec(text.slice(given.end, given.end + 64))?.[0].length ?? 0);
    calls.push({ tool, argumentsJson: given.argumentsJson, start, end, isMarked: false });
  }
  return calls;
}

function blanks(text: string, at: number): number {
  let count = 0;
  while (/\s/.test(text[at + count] ?? "x")) count++;
  return count;
}
