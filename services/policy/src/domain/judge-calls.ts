import type { Principal } from "@hlvm/identity/principal";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { decide } from "./decide/decide.ts";
import type { PermissionSettings } from "./decide/decision.ts";
import { resolveCall, type AskedCall, type FindTool } from "./decide/resolve-call.ts";
import type { JudgeCall } from "./judge/call-judgement.ts";
import type { Verdict } from "./verdict.ts";

/** A call that nobody makes. */
export interface ImaginedCall extends Pick<AskedCall, "tool" | "argumentsJson"> {
  /** As the orchestrator attests: what came from outside into the context in which it was made. */
  readonly externalSource?: string;
}

export interface JudgeCallsPorts {
  readonly findTool: FindTool;
  readonly judgeCall: JudgeCall;
}

/** A call needs names to be judged; nothing is found by these. */
const NAMES = { sessionId: "imagined", runId: "imagined", callId: "imagined" };

/**
 * What the rules as they are now say of calls, each by itself: what people allowed for a session is left out, and so is whether a
 * call was made before. Of a tool its definition of today counts. Nothing is granted and nothing is recorded.
 */
export function judgeCalls(
  ports: JudgeCallsPorts,
  principal: Principal,
  settings: PermissionSettings,
  calls: readonly ImaginedCall[],
): Promise<Verdict[]> {
  return Promise.all(
    calls.map(async ({ tool, argumentsJson, externalSource }) => {
      const definition = ports.findTool(tool);
      const call = { ...NAMES, tool, argumentsJson, definitionHash: definition === undefined ? "" : definitionHash(definition) };
      const resolved = await resolveCall(call, principal, ports.findTool, ports.judgeCall);
      if (!("definition" in resolved)) return resolved;
      const ruling = decide({ call: resolved, settings, allowances: [], externalSource });
      return { ...ruling, safetyLevel: resolved.judgement.level, trustTier: resolved.definition.trustTier };
    }),
  );
}
