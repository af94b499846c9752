import type { Principal } from "@hlvm/identity/principal";
import type { Outcome } from "./audit/outcome-event.ts";
import type { ApprovalStore } from "./approval/approval-store.ts";
import { decide } from "./decide/decide.ts";
import type { PermissionSettings, Ruling } from "./decide/decision.ts";
import type { ResolvedCall } from "./decide/question.ts";
import type { AskedCall } from "./decide/resolve-call.ts";

/** Who asks what to be decided, under which settings. */
export interface AskedDecision {
  readonly principal: Principal;
  readonly call: AskedCall;
  readonly settings: PermissionSettings;
  readonly traceId: string;
  /** As the orchestrator attests: what came from outside into the context in which the model made the call. */
  readonly externalSource?: string;
  /** What a person was shown of the file that the call writes. */
  readonly expectedSha256?: string;
  /** The call that this one would make once more, of which nobody knows whether it took effect. */
  readonly repeats?: string;
  /** What came of earlier calls of the run, of which nothing is on record yet. */
  readonly ended?: readonly Outcome[];
}

/** Steps whose question "always for this session" may have answered. */
const ALLOWABLE: ReadonlySet<Ruling["step"]> = new Set(["mode", "trust_floor"]);

/** What the rules say. What a person allowed for the session is looked up only where it could change the answer. */
export async function ruleOnCall(
  approvals: ApprovalStore,
  { principal, call: { sessionId }, settings, externalSource, repeats }: AskedDecision,
  call: ResolvedCall,
): Promise<Ruling> {
  const ruling = decide({ call, settings, allowances: [], externalSource, repeats });
  if (!ALLOWABLE.has(ruling.step) || ruling.decision === "allow") return ruling;
  const allowances = await approvals.allowances(principal.organization, sessionId, call.definition.name);
  return allowances.length === 0 ? ruling : decide({ call, settings, allowances, externalSource, repeats });
}
