import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";
import type { Principal } from "@hlvm/identity/principal";

/** Who may act on the delegations of runs. */
const SERVICE = "orchestrator";

interface Asked {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly runId: string;
}

/** @throws HlvmError `delegation_differs` where it was signed for another person, session, run or service than the call is about */
export function requireDelegation(delegation: Delegation, { principal, sessionId, runId }: Asked): Delegation {
  const { organization, id } = delegation.principal;
  const differing = [
    ["principal", organization !== principal.organization || id !== principal.id],
    ["roles", delegation.principal.roles.join() !== principal.roles.join()],
    ["session", delegation.sessionId !== sessionId],
    ["run", delegation.runId !== runId],
    ["service", delegation.authorizedParty !== SERVICE],
  ].flatMap(([what, differs]) => (differs === true ? [what] : []));
  if (differing.length === 0) return delegation;
  throw new HlvmError({
    code: "permission_denied",
    reason: "delegation_differs",
    message: `The delegation is of another ${differing.join(" and ")} than the run that it came with.`,
    advice: "Start the run through the edge; it delegates what the person set.",
  });
}
