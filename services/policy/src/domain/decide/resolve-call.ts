import { canonicalArguments, type CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { messageOf } from "@hlvm/errors/message-of";
import type { Principal } from "@hlvm/identity/principal";
import { definitionHash } from "@hlvm/tools/definition-hash";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { hasAuthority } from "../authority/authority.ts";
import type { JudgeCall } from "../judge/call-judgement.ts";
import type { Ruling } from "./decision.ts";
import type { ResolvedCall } from "./question.ts";

/** One use of a tool, as it was asked for. */
export interface AskedCall {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  /** Hash of the tool's definition as the caller knows it. */
  readonly definitionHash: string;
}

export type FindTool = (name: string) => ToolDefinition | undefined;

/**
 * Step 1: who asks, for which session, with a tool that is known and whose definition is the pinned one, with arguments
 * that have a canonical form and can be judged. Whatever is missing denies.
 */
export async function resolveCall(
  call: AskedCall,
  principal: Principal,
  findTool: FindTool,
  judgeCall: JudgeCall,
): Promise<ResolvedCall | Ruling> {
  if (principal.organization === "" || principal.id === "") return denied("organization: missing", "Nobody knows for whom this would run.");
  if (!hasAuthority(principal, "run_tools"))
    return denied("role: missing", `${principal.id} may not run tools: that takes the role developer or admin.`);
  if (call.sessionId === "" || call.runId === "" || call.callId === "")
    return denied("session: missing", "The call belongs to no session, or has no id.");
  const definition = findTool(call.tool);
  if (definition === undefined) return denied("tool: unknown", `There is no tool ${call.tool}.`);
  const pinned = definitionHash(definition);
  if (call.definitionHash !== pinned)
    return denied("tool: definition changed", `The definition of ${call.tool} is not the one that is pinned here.`);
  let parsed: CanonicalArguments;
  try {
    parsed = canonicalArguments(call.argumentsJson);
  } catch (cause) {
    return denied("arguments: invalid", messageOf(cause));
  }
  const judgement = await judgeCall(definition, parsed.value);
  if (judgement === undefined) return denied("arguments: invalid", `${call.tool} needs an argument that is missing or is no text.`);
  return { definition, definitionHash: pinned, arguments: parsed, judgement };
}

function denied(rule: string, reason: string): Ruling {
  return { decision: "deny", step: "definition", rule, reason };
}
