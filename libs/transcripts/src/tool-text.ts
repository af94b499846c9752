/** Of a tool's input; what it wrote is more telling in what came of it. */
const MAXIMUM_INPUT = 4_000;

/** A call of a tool as one text. */
export function toolCallText(name: string, input: unknown): string {
  const given = typeof input === "string" ? input : JSON.stringify(input ?? {});
  return `${name} ${given.length > MAXIMUM_INPUT ? `${given.slice(0, MAXIMUM_INPUT)}…` : given}`;
}
