import type { ToolArgument, ToolDefinition } from "@hlvm/tools/tool-definition";
import { meantArgument } from "./argument-names.ts";
import { readLooseJson } from "./loose-json.ts";

/** What models put the arguments into once more. */
const WRAPPERS = new Set(["arguments", "parameters", "args", "input", "params", "kwargs"]);
/** The most that is read of arguments that are not JSON as it should be. */
const MAXIMUM_LENGTH = 2 * 1024 * 1024;

/**
 * A call's arguments as the tool takes them, where it is plain what the model meant: other names, numbers as texts, a list
 * around a text, JSON that is none. What is not plain stays as it is, and whoever checks it says what is wrong.
 * @returns JSON
 */
export function fitArguments(argumentsJson: string, { inputSchema }: Pick<ToolDefinition, "inputSchema">): string {
  const properties = new Map(Object.entries(inputSchema.properties));
  const given = unwrapped(readObject(argumentsJson), properties);
  if (given === undefined) return argumentsJson;
  const fitted = new Map<string, unknown>();
  for (const [name, value] of named(given, properties)) {
    const argument = properties.get(name);
    if (argument === undefined) fitted.set(name, value);
    else if (value !== null || inputSchema.required.includes(name)) fitted.set(name, fitValue(value, argument, name));
  }
  return JSON.stringify(Object.fromEntries(fitted));
}

function readObject(json: string): Record<string, unknown> | undefined {
  if (json.length > MAXIMUM_LENGTH) return undefined;
  const text = json.trim();
  try {
    const value: unknown = JSON.parse(text);
    // An object that was made a text once more.
    return isObject(value) ? value : typeof value === "string" ? looseObject(value.trim()) : undefined;
  } catch {
    return looseObject(text);
  }
}

function looseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  const read = readLooseJson(text, 0);
  // What ended too early lost something, and what goes on is more than arguments.
  if (read === undefined || read.isCut || read.isOpen || text.slice(read.end).trim() !== "") return undefined;
  return isObject(read.value) ? read.value : undefined;
}

function unwrapped(
  given: Record<string, unknown> | undefined,
  properties: ReadonlyMap<string, ToolArgument>,
): Record<string, unknown> | undefined {
  const [only, ...others] = Object.entries(given ?? {});
  if (only === undefined || others.length > 0 || properties.has(only[0]) || !WRAPPERS.has(only[0])) return given;
  const [, inner] = only;
  if (isObject(inner)) return inner;
  return (typeof inner === "string" ? looseObject(inner.trim()) : undefined) ?? given;
}

/** Under the tool's names, where each wrong one means just one of them, and no other means the same. */
function named(given: Record<string, unknown>, properties: ReadonlyMap<string, ToolArgument>): [string, unknown][] {
  const entries = Object.entries(given);
  const free = [...properties.keys()].filter((name) => !Object.hasOwn(given, name));
  const meant = entries.map(([name]) => (properties.has(name) ? name : meantArgument(name, free)));
  return entries.map(([name, value], index) => {
    const target = meant[index];
    const isClear = target !== undefined && meant.filter((other) => other === target).length === 1;
    return [isClear ? target : name, value];
  });
}

function fitValue(value: unknown, argument: ToolArgument, name: string): unknown {
  switch (argument.type) {
    case "string":
      return fitText(value, argument, name);
    case "integer":
      return typeof value === "string" && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value;
    case "boolean":
      if (typeof value === "string" && /^\s*(true|false)\s*$/i.test(value)) return value.trim().toLowerCase() === "true";
      return value;
    case "array":
      return fitList(value);
  }
}

function fitText(value: unknown, argument: ToolArgument, name: string): unknown {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.length === 1 && typeof value[0] === "string") return value[0];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    // A list is how programs are given their arguments: each stays one. Several lines are what a list of them means.
    if (name === "command" && value.length > 0) return value.map(shellWord).join(" ");
    return name === "content" ? value.join("\n") : value;
  }
  if (name === "content" && isObject(value)) return `${JSON.stringify(value, null, 2)}\n`;
  if (typeof value !== "string" || argument.enum === undefined) return value;
  return argument.enum.find((word) => word.toLowerCase() === value.trim().toLowerCase()) ?? value;
}

function fitList(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim();
  const read = text.startsWith("[") ? readLooseJson(text, 0) : undefined;
  return Array.isArray(read?.value) && !read.isCut && !read.isOpen ? read.value : [value];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
