import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ToolDefinition } from "./tool-definition.ts";

const ajv = new Ajv({ allErrors: true, strict: true });
const compiled = new WeakMap<ToolDefinition, ValidateFunction>();

/**
 * Checks a call's arguments against the tool's schema.
 * @throws HlvmError `invalid_arguments`, which says to the model which argument is wrong and what would be right
 */
export function checkArguments(tool: ToolDefinition, value: unknown): void {
  const validate = compiled.get(tool) ?? ajv.compile(tool.inputSchema);
  compiled.set(tool, validate);
  if (validate(value)) return;
  const problems = (validate.errors ?? []).map((error) => describe(error, tool));
  throw new HlvmError({
    code: "invalid_argument",
    reason: "invalid_arguments",
    message: `${tool.name}: ${[...new Set(problems)].join("; ")}.`,
    advice: `Arguments of ${tool.name}: ${signature(tool)}.`,
  });
}

function describe(error: ErrorObject, tool: ToolDefinition): string {
  const [, name = "", ...place] = error.instancePath.split("/");
  if (error.keyword === "required" && name === "") return `argument "${error.params.missingProperty as string}" is missing`;
  if (error.keyword === "additionalProperties" && name === "") return `there is no argument "${error.params.additionalProperty as string}"`;
  if (error.keyword === "enum" && place.length === 0)
    return `argument "${name}" must be one of ${tool.inputSchema.properties[name]?.enum?.join(", ")}`;
  if (place.length > 0) return `argument "${name}", at ${place.join(".")}, ${error.message ?? "is wrong"}`;
  return `argument "${name}" ${error.message ?? "is wrong"}`;
}

function signature(tool: ToolDefinition): string {
  const names = Object.entries(tool.inputSchema.properties).map(([name, argument]) => {
    const isRequired = tool.inputSchema.required.includes(name);
    return `${name}${isRequired ? "" : "?"}: ${argument.enum?.join(" | ") ?? argument.type}`;
  });
  return names.length === 0 ? "none" : names.join(", ");
}
