import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import type { CallOptions, Client } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { broken, findingOf, held, notRun, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, type AttackMesh } from "../attack-mesh.ts";
import { attempt, forgeTokens, stolenSigners, takesForgedTokens } from "../forged-token.ts";

const ALICE = `user:${userInfo().username}`;
const BOB = { principal: "user:bob", roles: ["developer", "approver"] };
const EVERY_ROLE = ["developer", "approver", "admin", "security-auditor"];
const NO_CONTROL = "no token made by hand is taken, not even a well-formed one of the edge: a refusal would say nothing";

const queryAudit = (client: Client<typeof AuditService>, options: CallOptions) => client.query({ limit: 1 }, options);
const describeIsolation = (client: Client<typeof SandboxService>, options: CallOptions) => client.describeIsolation({}, options);
const listApprovals = (client: Client<typeof PolicyService>, options: CallOptions) => client.listApprovals({}, options);

/** A session of the local person, with one command that has run. */
async function alicesSession(mesh: AttackMesh) {
  const workspace = mesh.workspace({ "a.txt": "a\n" });
  const { sessionId, runId, calls } = await mesh.ask(workspace, "bypassPermissions", [[shell("echo the secret of alice")]]);
  return { workspace, sessionId, runId, call: calls[0]! };
}

async function receiptBeforeGrant(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "sandbox", SandboxService, describeIsolation))) return notRun(NO_CONTROL);
  const { sessionId, runId, call } = await alicesSession(mesh);
  const tokens = await forgeTokens(mesh, "edge", "sandbox", { principal: ALICE, roles: EVERY_ROLE });
  const { callId, tool, argumentsJson } = call;
  const hash = definitionHash(findNativeTool(tool)!);
  const read = await attempt(mesh, "sandbox", SandboxService, tokens, async (client, options) => {
    const request = { call: { sessionId, runId, callId, tool, argumentsJson, definitionHash: hash }, grant: "no grant at all" };
    for await (const { event } of client.execute(request, options)) if (event.case === "result") return event.value.content;
    return "";
  });
  if (!read.accepted) return held(`refused: ${read.error}`);
  return broken(`without a grant the result of an earlier call was answered: ${read.answer.trim()}`);
}

async function bobInAlicesWorkspace(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "sandbox", SandboxService, describeIsolation))) return notRun(NO_CONTROL);
  const { workspace, sessionId, call } = await alicesSession(mesh);
  const tokens = await forgeTokens(mesh, "edge", "sandbox", BOB);
  const receipt = await attempt(mesh, "sandbox", SandboxService, tokens, async (client, options) => {
    const { result } = await client.getReceipt({ sessionId, callId: call.callId }, options);
    return result?.content ?? "";
  });
  const opened = await attempt(mesh, "sandbox", SandboxService, tokens, (client, options) =>
    client.openWorkspace({ sessionId, path: workspace }, options),
  );
  const closed = await attempt(mesh, "sandbox", SandboxService, tokens, (client, options) => client.closeWorkspace({ sessionId }, options));
  return findingOf(
    [
      ...(receipt.accepted && receipt.answer !== "" ? ["bob reads the receipts of alice"] : []),
      ...(opened.accepted ? ["bob opens the workspace of alice"] : []),
      ...(closed.accepted ? ["bob closes the workspace of alice"] : []),
    ],
    "bob gets neither receipts nor workspace",
  );
}

async function thirtyYears(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", AuditService, queryAudit))) return notRun(NO_CONTROL);
  const tokens = await forgeTokens(mesh, "edge", "policy", { principal: ALICE, roles: EVERY_ROLE, lifetimeSeconds: 30 * 365 * 86_400 });
  const read = await attempt(mesh, "policy", AuditService, tokens, queryAudit);
  return read.accepted ? broken("a token that expires in thirty years reads the audit log") : held(`refused: ${read.error}`);
}

async function mintedPrincipal(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", AuditService, queryAudit))) return notRun(NO_CONTROL);
  const problems: string[] = [];
  const signers = stolenSigners(mesh).filter((signer) => signer !== "edge");
  for (const signer of signers) {
    const claims = { principal: "user:nobody-knows", roles: EVERY_ROLE };
    const forged = (service: string): Promise<string[]> => forgeTokens(mesh, signer, service, claims);
    const audit = await attempt(mesh, "policy", AuditService, await forged("policy"), queryAudit);
    const approvals = await attempt(mesh, "policy", PolicyService, await forged("policy"), listApprovals);
    const isolation = await attempt(mesh, "sandbox", SandboxService, await forged("sandbox"), describeIsolation);
    if (audit.accepted) problems.push(`with the key of ${signer} an invented admin reads the audit log`);
    if (approvals.accepted) problems.push(`with the key of ${signer} an invented approver lists approvals`);
    if (isolation.accepted) problems.push(`with the key of ${signer} an invented person calls the sandbox`);
  }
  return findingOf(problems, `the keys of ${signers.join(", ")} make nobody up`);
}

async function namedMode(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", PolicyService, listApprovals))) return notRun(NO_CONTROL);
  const planned = await mesh.ask(mesh.workspace(), "plan", [[shell("touch pwned")]]);
  const problems: string[] = [];
  for (const signer of stolenSigners(mesh)) {
    const tokens = await forgeTokens(mesh, signer, "policy", { principal: ALICE, roles: EVERY_ROLE });
    const call = {
      sessionId: planned.sessionId,
      runId: planned.runId,
      callId: randomUUID(),
      tool: "shell_exec",
      argumentsJson: JSON.stringify({ command: "touch pwned" }),
      definitionHash: definitionHash(findNativeTool("shell_exec")!),
    };
    const settings = { mode: PermissionMode.BYPASS_PERMISSIONS, canAsk: false };
    const decided = await attempt(mesh, "policy", PolicyService, tokens, (client, options) => client.decide({ call, settings }, options));
    if (decided.accepted && decided.answer.verdict?.decision === Decision.ALLOW)
      problems.push(`with the key of ${signer} bypassPermissions is believed for a run that its person set to plan`);
  }
  return findingOf(problems, "the mode counts that the person set");
}

export const seenIdentity: readonly AttackCase[] = [
  { group: "seen", name: "a receipt is answered before the grant is checked", run: receiptBeforeGrant },
  { group: "seen", name: "bob of the same organization in alice's workspace", run: bobInAlicesWorkspace },
  { group: "seen", name: "a token that expires in thirty years", run: thirtyYears },
  { group: "seen", name: "a service that holds a key mints any principal with any role", run: mintedPrincipal },
  { group: "seen", name: "policy believes the mode that its caller names", run: namedMode },
];
