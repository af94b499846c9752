/** What says most of a call in one line, where it has it. */
const TELLING = ["command", "path", "url", "question", "plan", "query"];
const LONGEST = 200;

/** The arguments of a call in one line: enough to tell it from another. */
export function tellingText(argumentsJson: string): string {
  const given = parsed(argumentsJson);
  const first = [...TELLING.map((name) => given[name]), ...Object.values(given)].find((value) => typeof value === "string");
  return typeof first === "string" ? first.split("\n", 1)[0]!.slice(0, LONGEST) : "";
}

function parsed(argumentsJson: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
