import type { Delegation } from "@hlvm/identity/delegation";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Mesh } from "../loop/ports.ts";
import { redactMesh } from "../secrets/redact-mesh.ts";
import type { BegunRun } from "./begun-run.ts";
import type { RunClaims } from "./run-claims.ts";

export interface RedelegatePorts {
  readonly claims: Pick<RunClaims, "delegate">;
  /** @throws HlvmError `delegation_refused` where it does not count */
  readonly verifyDelegation: (delegation: string) => Delegation;
  /** The other services, called for a run. */
  readonly meshFor: (delegated: { readonly delegation: Delegation; readonly text: string }) => Mesh;
}

/**
 * Has a run go on by another delegation, which its person had the edge sign for this very run, and keeps that with the run, so
 * that whoever takes it over has it.
 * @returns the other services, called by it
 * @throws HlvmError `delegation_refused`, `delegation_differs`, `lease_lost`
 */
export async function redelegateRun(begun: BegunRun, text: string, { claims, verifyDelegation, meshFor }: RedelegatePorts): Promise<Mesh> {
  const { lease, principal, secrets } = begun;
  const delegation = verifyDelegation(text);
  const { sessionId, runId } = delegation;
  if (sessionId !== lease.sessionId || runId !== lease.runId || delegation.principal.id !== principal)
    throw new HlvmError({
      code: "permission_denied",
      reason: "delegation_differs",
      message: "What was signed with the plan is for another run, or by another person, than this one.",
      advice: "Reject the plan, or stop the run and ask again.",
    });
  if (!(await claims.delegate(lease, text, delegation.principal.organization)))
    throw new HlvmError({
      code: "failed_precondition",
      reason: "lease_lost",
      message: `Run ${runId} is not held by this process any more.`,
      advice: "Whoever holds it now goes on with it.",
    });
  return redactMesh(meshFor({ delegation, text }), secrets);
}
