import { randomUUID } from "node:crypto";
import type { CallOptions, Client } from "@connectrpc/connect";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { Principal } from "@hlvm/identity/principal";
import type { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { testEnforcement, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";

/** More than a tool's own time: a call may wait for room. */
const DEADLINE_MILLISECONDS = 120_000;

export interface TestCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly given: object;
  readonly callId?: string;
  readonly runId?: string;
  readonly principal?: Principal;
  /** Left out, those of the person alone. */
  readonly headers?: CallOptions["headers"];
  /** Left out, one that fits. */
  readonly grant?: string;
  /** Of the run; left out, no checkpoint is made. */
  readonly turn?: number;
  readonly definitionHash?: string;
  /** Of the file that it writes. */
  readonly expectedSha256?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onOutput?: (text: string) => void;
  readonly onWaiting?: (position: number) => void;
}

type GrantedTestCall = Required<Pick<TestCall, "sessionId" | "tool" | "given" | "callId" | "runId" | "principal">> &
  Pick<TestCall, "expectedSha256">;

/** Options of a call to the sandbox in somebody's name. */
export function callOptions(identity: TestIdentity, principal = testPrincipal): CallOptions {
  return { headers: { authorization: `Bearer ${identity.minter.mint(principal, "sandbox")}` } };
}

export function signGrant(identity: TestIdentity, call: GrantedTestCall): string {
  return identity.signer.sign({
    organization: call.principal.organization,
    principal: call.principal.id,
    sessionId: call.sessionId,
    runId: call.runId,
    callId: call.callId,
    tool: call.tool,
    definitionHash: definitionHash(findNativeTool(call.tool)!),
    argumentsHash: canonicalArguments(JSON.stringify(call.given)).hash,
    policyVersion: "test",
    ...testEnforcement,
    ...(call.expectedSha256 === undefined ? {} : { expectedSha256: call.expectedSha256 }),
  });
}

/** Has the service run a call, and follows it to its end. */
export async function callTool(identity: TestIdentity, client: Client<typeof SandboxService>, call: TestCall): Promise<ToolResult> {
  const { principal = testPrincipal, callId = randomUUID(), runId = randomUUID(), sessionId, tool, given } = call;
  const grant =
    call.grant ?? signGrant(identity, { principal, callId, runId, sessionId, tool, given, expectedSha256: call.expectedSha256 });
  const hash = call.definitionHash ?? definitionHash(findNativeTool(tool)!);
  const request = {
    call: { sessionId, runId, callId, tool, argumentsJson: JSON.stringify(given), definitionHash: hash },
    grant,
    turn: call.turn,
  };
  let result: ToolResult | undefined;
  const { signal, timeoutMs = DEADLINE_MILLISECONDS } = call;
  const options = call.headers === undefined ? callOptions(identity, principal) : { headers: call.headers };
  for await (const { event } of client.execute(request, { ...options, signal, timeoutMs })) {
    if (event.case === "waiting") call.onWaiting?.(event.value.position);
    if (event.case === "output") call.onOutput?.(event.value.text);
    if (event.case === "result") result = event.value;
  }
  if (result === undefined) throw new Error("the stream ended without a result");
  return result;
}
