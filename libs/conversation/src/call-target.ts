import type { ToolCallView } from "./item.ts";

const TARGET_CHARACTERS = 200;

/** What a call is about, in short: what the orchestrator says once it runs; before that the first text of its arguments. */
export function callTarget({ summary, argumentsJson }: Pick<ToolCallView, "summary" | "argumentsJson">): string {
  if (summary !== "") return summary;
  const first = Object.values(parsedArguments(argumentsJson)).find((value) => typeof value === "string") ?? "";
  return first.split("\n", 1)[0]!.slice(0, TARGET_CHARACTERS).toWellFormed();
}

/** Empty where they are no object. */
export function parsedArguments(argumentsJson: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
