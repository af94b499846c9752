import { canonicalJson, type JsonValue } from "@hlvm/canonical-json/canonical-json";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { ToolDefinition } from "./tool-definition.ts";

const hashes = new WeakMap<ToolDefinition, string>();

/** SHA-256, hex, of the definition's canonical JSON. */
export function definitionHash(tool: ToolDefinition): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const hash = sha256Hex(canonicalJson(tool as unknown as JsonValue));
  hashes.set(tool, hash);
  return hash;
}
