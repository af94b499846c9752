import type { ToolArgument, ToolDefinition } from "@hlvm/tools/tool-definition";

/** What a description gives as an example: `for example src/main.ts.` */
const GIVEN = /for example ([^\s,;]+?)[.,;]?(?:\s|$)/;

/** Arguments that a tool would take: those that it needs, or its first one where it needs none. Model-readable JSON. */
export function exampleArguments({ inputSchema: { properties, required } }: Pick<ToolDefinition, "inputSchema">): string {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, exampleOf(properties[name]!)])));
}

function exampleOf({ type, description, enum: words, minimum, minLength = 0 }: ToolArgument): unknown {
  switch (type) {
    case "integer":
      return minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return ["…"];
    case "string":
      return words?.[0] ?? GIVEN.exec(description)?.[1] ?? "…".padEnd(minLength, "…");
  }
}
