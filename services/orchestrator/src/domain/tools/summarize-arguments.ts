import type { JsonValue } from "@hlvm/canonical-json/canonical-json";

const MAIN_ARGUMENTS = ["command", "path", "pattern", "query", "text", "fact_id", "reference"];
const LENGTH = 120;

/** One line for people: the argument that tells most. */
export function summarizeArguments(value: { readonly [name: string]: JsonValue }): string {
  const main = MAIN_ARGUMENTS.map((name) => value[name]).find((argument) => typeof argument === "string");
  const line = (main ?? Object.values(value).join(" ")).replace(/\s+/g, " ").trim();
  return line.length <= LENGTH ? line : `${line.slice(0, LENGTH - 1)}…`;
}
