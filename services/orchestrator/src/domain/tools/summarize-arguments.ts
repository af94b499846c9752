import type { JsonValue } from "@hlvm/canonical-json/canonical-json";

const MAIN_ARGUMENTS = ["command", "path", "pattern", "query", "text", "fact_id", "reference"];
const LENGTH = 120;

/** One line for people: the argument that tells most. */
export function summarizeArguments(value: { readonly [name: string]: JsonValue }): string {
  const main = MAIN_ARGUMENTS.map((name) => value[name]).find((argument) => typeof argument === "string");
  const line = (main ?? Object.values(value).join(" ")).replace(/\s+/g, " ").trim();
  return line.length <= LENGTH ? line : `${line.slice(0, LENGTH - 1)}…`;
}

/** The same of arguments as a model wrote them, which may be no JSON. */
export function summarizeJson(argumentsJson: string): string {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return summarizeArguments(value as { readonly [name: string]: JsonValue });
  } catch {
    // Shown as it is.
  }
  return summarizeArguments({ text: argumentsJson });
}
