import { canonicalArguments, type CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditEvent } from "./audit/audit-event.ts";
import type { AskedCall } from "./decide/resolve-call.ts";

/**
 * What two questions have in common that are about the very same call: for whom, by which run, and what would run. Organization,
 * session and call id are what the first one is found by.
 */
export type CallIdentity = Pick<AuditEvent, "principal" | "runId" | "tool" | "definitionHash" | "argumentsHash">;

export function callIdentity(
  principal: Principal,
  { runId, tool, definitionHash, argumentsJson }: AskedCall,
  given: CanonicalArguments | undefined = readArguments(argumentsJson),
): CallIdentity {
  return { principal: principal.id, runId, tool, definitionHash, argumentsHash: given?.hash ?? sha256Hex(argumentsJson) };
}

/** What is not recorded of one of them is not taken for the same. */
export function isSameCall(recorded: CallIdentity, asked: CallIdentity): boolean {
  return (["principal", "runId", "tool", "definitionHash", "argumentsHash"] as const).every(
    (field) => recorded[field] !== undefined && recorded[field] === asked[field],
  );
}

/** Undefined where they have no canonical form. */
export function readArguments(argumentsJson: string): CanonicalArguments | undefined {
  try {
    return canonicalArguments(argumentsJson);
  } catch {
    return undefined;
  }
}
