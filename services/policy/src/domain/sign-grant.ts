import type { Grant } from "@hlvm/grant/grant";
import type { Principal } from "@hlvm/identity/principal";
import type { ResolvedCall } from "./decide/question.ts";
import type { AskedCall } from "./decide/resolve-call.ts";
import { enforcementOf } from "./enforcement.ts";
import { POLICY_VERSION } from "./policy-version.ts";

/** Signs what the executor demands, for one use within a minute. */
export type SignGrant = (grant: Omit<Grant, "id" | "expiresAt">) => string;

/** A grant for exactly this call, on a file as a person was shown it where that is said. The decision has to be committed before. */
export function signGrantFor(
  signGrant: SignGrant,
  principal: Principal,
  { sessionId, runId, callId }: Pick<AskedCall, "sessionId" | "runId" | "callId">,
  { definition, definitionHash, arguments: given, judgement }: ResolvedCall,
  expectedSha256?: string,
): string {
  return signGrant({
    organization: principal.organization,
    principal: principal.id,
    sessionId,
    runId,
    callId,
    tool: definition.name,
    definitionHash,
    argumentsHash: given.hash,
    policyVersion: POLICY_VERSION,
    ...enforcementOf(definition, judgement.level, given.value),
    ...(expectedSha256 === undefined ? {} : { expectedSha256 }),
  });
}
