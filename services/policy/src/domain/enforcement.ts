import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { Enforcement, SandboxProfile } from "@hlvm/grant/grant";
import { protectedPart } from "@hlvm/protected-paths/protected-paths";
import type { SafetyLevel, ToolDefinition } from "@hlvm/tools/tool-definition";

const PROFILES: Readonly<Record<SafetyLevel, SandboxProfile>> = { L0: "read", L1: "edit", L2: "open" };

/**
 * What the executor is to hold an allowed call to. A protected path may be written only by a call whose own arguments name
 * it, so that whoever allowed the call saw it.
 */
export function enforcementOf(definition: ToolDefinition, level: SafetyLevel, values: { readonly [name: string]: JsonValue }): Enforcement {
  const { path } = values;
  const isNamed = definition.category === "write" && typeof path === "string" && protectedPart(path) !== undefined;
  return {
    level,
    profile: PROFILES[level],
    protectedPaths: level === "L2" && isNamed ? [path] : [],
    network: "none",
    timeoutMilliseconds: definition.timeoutMilliseconds,
  };
}
