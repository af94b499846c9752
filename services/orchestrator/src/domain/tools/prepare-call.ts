import { HlvmError } from "@hlvm/errors/hlvm-error";
import { canonicalArguments, type CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { checkArguments } from "@hlvm/tools/check-arguments";
import { definitionHash } from "@hlvm/tools/definition-hash";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { ToolCall } from "../loop/ports.ts";
import { exampleArguments } from "./example-arguments.ts";
import { failedResult } from "./tool-result.ts";

/** A call that can be decided on. */
export interface ReadyCall {
  readonly definition: ToolDefinition;
  readonly call: ToolCall;
  readonly value: CanonicalArguments["value"];
}

export type PreparedCall = ReadyCall | { readonly refusal: ToolResult };

/** Checks what the model wrote against the tool's definition; what is wrong becomes a result that the model can act on. */
export function prepareCall(
  part: ToolCallPart,
  name: Omit<ToolCall, "tool" | "argumentsJson" | "definitionHash">,
  tools: readonly ToolDefinition[],
): PreparedCall {
  const definition = tools.find((tool) => tool.name === part.tool);
  if (definition === undefined)
    return {
      refusal: failedResult("not_found", `There is no tool "${part.tool}". The tools are: ${tools.map((tool) => tool.name).join(", ")}.`),
    };
  try {
    // Models write nothing at all for a tool that takes no arguments.
    const canonical = canonicalArguments(part.argumentsJson.trim() === "" ? "{}" : part.argumentsJson);
    checkArguments(definition, canonical.value);
    const call = { ...name, tool: definition.name, argumentsJson: canonical.json, definitionHash: definitionHash(definition) };
    return { definition, call, value: canonical.value };
  } catch (thrown) {
    if (!(thrown instanceof HlvmError)) throw thrown;
    return {
      refusal: failedResult(
        "invalid_arguments",
        `${thrown.message} ${thrown.advice} For example: ${exampleArguments(definition)}. Call the tool again with right arguments.`,
      ),
    };
  }
}
