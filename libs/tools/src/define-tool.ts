import type { ToolArgument, ToolDefinition } from "./tool-definition.ts";

/** The seeds' limit for one tool call. */
const DEFAULT_TIMEOUT_MILLISECONDS = 60_000;

type Described = Omit<ToolDefinition, "inputSchema" | "trustTier" | "timeoutMilliseconds"> & {
  readonly arguments: { readonly [name: string]: ToolArgument & { readonly optional?: true } };
};

/** A native tool from its arguments, of which all are required that are not marked optional. */
export function defineTool({ arguments: described, ...rest }: Described): ToolDefinition {
  const properties: Record<string, ToolArgument> = {};
  const required: string[] = [];
  for (const [name, { optional, ...argument }] of Object.entries(described)) {
    properties[name] = argument;
    if (optional === undefined) required.push(name);
  }
  return {
    ...rest,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    trustTier: "built-in",
    timeoutMilliseconds: DEFAULT_TIMEOUT_MILLISECONDS,
  };
}
