import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import { ApprovalAnswer, Decision, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { findingOf, held, notRun, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, writeFile, type AttackMesh } from "../attack-mesh.ts";
import { attempt, forgeTokens, takesForgedTokens } from "../forged-token.ts";

const EVERY_ROLE = ["developer", "approver", "admin", "security-auditor"];
const ME = `user:${userInfo().username}`;
const STRANGER = { organization: "elsewhere", principal: ME, roles: EVERY_ROLE };
const NO_CONTROL = "no token made by hand is taken, not even a well-formed one of the edge: a refusal would say nothing";

async function organizationInBody(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  const headers = { authorization: `Bearer ${mesh.localToken}`, "content-type": "application/json" };
  await mesh.ask(mesh.workspace(), "plan", [[shell("ls")]]);
  const bodies = [{ organization: "elsewhere" }, { organizationId: "elsewhere" }, { principal: "user:somebody" }];
  for (const body of bodies) {
    const claimed = { ...headers, "x-organization": "elsewhere", "x-hlvm-organization": "elsewhere" };
    const sent = { method: "POST", headers: claimed, body: JSON.stringify(body) };
    const response = await fetch(`${mesh.mesh.state.edgeUrl}/hlvm.session.v1.SessionService/ListSessions`, sent);
    const { sessions = [] } = (await response.json()) as { sessions?: { owner: string }[] };
    if (response.ok && !sessions.some(({ owner }) => owner === ME))
      problems.push(`${JSON.stringify(body)} changed whose sessions are listed`);
  }
  return findingOf(problems, "the token's organization counts");
}

async function acrossOrganizations(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "orchestrator", SessionService, (client, options) => client.listSessions({}, options))))
    return notRun(NO_CONTROL);
  const workspace = mesh.workspace();
  const { sessionId, calls } = await mesh.ask(workspace, "bypassPermissions", [[shell("echo of this organization")]]);
  const sessionTokens = await forgeTokens(mesh, "edge", "orchestrator", STRANGER);
  const sandboxTokens = await forgeTokens(mesh, "edge", "sandbox", STRANGER);
  const policyTokens = await forgeTokens(mesh, "edge", "policy", STRANGER);
  const got = await attempt(mesh, "orchestrator", SessionService, sessionTokens, (client, options) =>
    client.getSession({ sessionId }, options),
  );
  const watched = await attempt(mesh, "orchestrator", SessionService, sessionTokens, async (client, options) => {
    let events = 0;
    for await (const response of client.watch({ sessionId }, options)) events += response.events.length;
    return events;
  });
  const continued = await attempt(mesh, "orchestrator", SessionService, sessionTokens, (client, options) =>
    client.startRun({ sessionId, prompt: "go on", settings: { mode: PermissionMode.PLAN } }, options),
  );
  const sessions = await attempt(
    mesh,
    "orchestrator",
    SessionService,
    sessionTokens,
    async (client, options) => (await client.listSessions({}, options)).sessions.length,
  );
  const receipt = await attempt(
    mesh,
    "sandbox",
    SandboxService,
    sandboxTokens,
    async (client, options) => (await client.getReceipt({ sessionId, callId: calls[0]!.callId }, options)).result?.content,
  );
  const opened = await attempt(mesh, "sandbox", SandboxService, sandboxTokens, (client, options) =>
    client.openWorkspace({ sessionId, path: workspace }, options),
  );
  const events = await attempt(
    mesh,
    "policy",
    AuditService,
    policyTokens,
    async (client, options) => (await client.query({ sessionId }, options)).events.length,
  );
  return findingOf(
    [
      ...(got.accepted ? ["the session is found"] : []),
      ...(watched.accepted && watched.answer > 0 ? ["its events are read"] : []),
      ...(continued.accepted ? ["a run is started in it"] : []),
      ...(sessions.accepted && sessions.answer > 0 ? ["sessions are listed"] : []),
      ...(receipt.accepted && receipt.answer !== undefined ? ["its receipts are read"] : []),
      ...(opened.accepted ? ["its workspace is opened"] : []),
      ...(events.accepted && events.answer > 0 ? ["its audit events are read"] : []),
    ],
    "not found, whichever service is asked",
  );
}

/** Somebody who may not answers an approval; then the person denies it. */
async function wrongApprover(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", PolicyService, (client, options) => client.listApprovals({}, options))))
    return notRun(NO_CONTROL);
  const workspace = mesh.workspace();
  const problems: string[] = [];
  const pretenders = [
    STRANGER,
    { principal: "user:bob", roles: ["developer"] },
    { principal: "user:eve", roles: ["security-auditor"] },
    { principal: "user:mallory", roles: [] },
  ];
  await mesh.ask(workspace, "default", [[shell("touch pwned")]], {
    onAsked: async ({ approvalId }) => {
      for (const pretender of pretenders) {
        const tokens = await forgeTokens(mesh, "edge", "policy", pretender);
        const given = await attempt(mesh, "policy", PolicyService, tokens, (client, options) =>
          client.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, options),
        );
        if (given.accepted) problems.push(`answered by ${pretender.principal} (${pretender.roles.join(", ") || "no role"})`);
      }
      await mesh.policy.answerApproval({ approvalId, answer: ApprovalAnswer.DENY }).catch(() => undefined);
    },
  });
  if (mesh.exists(join(workspace, "pwned"))) problems.push("it ran");
  return findingOf(problems, "refused to people of elsewhere and to those without the role");
}

async function answeredTwice(mesh: AttackMesh): Promise<Finding> {
  const workspace = mesh.workspace();
  const problems: string[] = [];
  let approvalId = "";
  const answer = (given: ApprovalAnswer): Promise<boolean> =>
    mesh.policy.answerApproval({ approvalId, answer: given }).then(
      ({ approval }) => approval !== undefined,
      (thrown: unknown) => {
        if (thrown instanceof ConnectError) return false;
        throw thrown;
      },
    );
  const { sessionId } = await mesh.ask(workspace, "default", [[shell("touch pwned")]], {
    onAsked: async (approval) => {
      approvalId = approval.approvalId;
      await answer(ApprovalAnswer.DENY);
      if (await answer(ApprovalAnswer.ONCE)) problems.push("a denied approval was approved afterwards");
    },
  });
  await mesh.ask(workspace, "default", [[shell("touch pwned")]], {
    sessionId,
    onAsked: async (again) => void (await mesh.policy.answerApproval({ approvalId: again.approvalId, answer: ApprovalAnswer.DENY })),
  });
  let asked = 0;
  const once = async ({ approvalId: id }: { approvalId: string }): Promise<void> => {
    asked++;
    await mesh.policy.answerApproval({ approvalId: id, answer: asked === 1 ? ApprovalAnswer.ONCE : ApprovalAnswer.DENY });
  };
  const counted = await mesh.ask(
    mesh.workspace(),
    "default",
    [[shell("echo x >> count; rm -f gone")], [shell("echo x >> count; rm -f gone ")]],
    { onAsked: once },
  );
  if (counted.calls.filter(({ success }) => success).length !== 1) problems.push("one approval served two calls");
  if (mesh.exists(join(workspace, "pwned"))) problems.push("what was denied ran");
  return findingOf(problems, "an approval is answered once and good for one call");
}

/** Policy allows one call; its grant is then shown for another. */
async function otherArguments(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", PolicyService, (client, options) => client.listApprovals({}, options))))
    return notRun(NO_CONTROL);
  const workspace = mesh.workspace();
  const { sessionId } = await mesh.ask(workspace, "plan", [[shell("ls")]]);
  const tokens = {
    policy: await forgeTokens(mesh, "orchestrator", "policy", { principal: ME, roles: EVERY_ROLE }),
    sandbox: await forgeTokens(mesh, "orchestrator", "sandbox", { principal: ME, roles: EVERY_ROLE }),
  };
  const runId = randomUUID();
  const callOf = (command: string, callId: string) => ({
    sessionId,
    runId,
    callId,
    tool: "shell_exec",
    argumentsJson: JSON.stringify({ command }),
    definitionHash: definitionHash(findNativeTool("shell_exec")!),
  });
  const callId = randomUUID();
  const settings = { mode: PermissionMode.PLAN, canAsk: false };
  const decided = await attempt(mesh, "policy", PolicyService, tokens.policy, (client, options) =>
    client.decide({ call: callOf("ls", callId), settings }, options),
  );
  const grant = decided.accepted && decided.answer.verdict?.decision === Decision.ALLOW ? decided.answer.verdict.grant : "";
  if (grant === "")
    return held(`with the stolen key of the orchestrator there is no grant to be had: ${decided.accepted ? "denied" : decided.error}`);
  const execute = (command: string, id: string) =>
    attempt(mesh, "sandbox", SandboxService, tokens.sandbox, async (client, options) => {
      for await (const { event } of client.execute({ call: callOf(command, id), grant }, options))
        if (event.case === "result") return event.value.success;
      return false;
    });
  const problems: string[] = [];
  if ((await execute("touch pwned", callId)).accepted) problems.push("other arguments ran");
  if ((await execute("ls", randomUUID())).accepted) problems.push("another call ran");
  const first = await execute("ls", callId);
  const forged = `${grant.split(".").slice(0, 2).join(".")}.${"A".repeat(86)}`;
  if (
    (
      await attempt(mesh, "sandbox", SandboxService, tokens.sandbox, async (client, options) => {
        for await (const { event } of client.execute({ call: callOf("ls -a", randomUUID()), grant: forged }, options))
          if (event.case === "result") return true;
        return false;
      })
    ).accepted
  )
    problems.push("a grant with another signature was taken");
  if ((await execute("ls -a", callId)).accepted) problems.push("the grant was used twice");
  if (mesh.exists(join(workspace, "pwned"))) problems.push("it took effect");
  return findingOf(
    problems,
    `refused for other bytes, another call and a second use${first.accepted ? "" : ` (and for the call itself: ${first.error})`}`,
  );
}

/** The roles of the token of this very call count, whatever the session could do before. */
async function revokedRole(mesh: AttackMesh): Promise<Finding> {
  if (!(await takesForgedTokens(mesh, "policy", PolicyService, (client, options) => client.listApprovals({}, options))))
    return notRun(NO_CONTROL);
  const { sessionId } = await mesh.ask(mesh.workspace(), "bypassPermissions", [[shell("true")]]);
  const tokens = await forgeTokens(mesh, "edge", "policy", { principal: ME, roles: ["security-auditor"] });
  const call = {
    sessionId,
    runId: randomUUID(),
    callId: randomUUID(),
    tool: "shell_exec",
    argumentsJson: '{"command":"ls"}',
    definitionHash: definitionHash(findNativeTool("shell_exec")!),
  };
  const decided = await attempt(mesh, "policy", PolicyService, tokens, (client, options) =>
    client.decide({ call, settings: { mode: PermissionMode.BYPASS_PERMISSIONS } }, options),
  );
  const isAllowed = decided.accepted && decided.answer.verdict?.decision === Decision.ALLOW;
  return findingOf(isAllowed ? ["a person without the role developer runs tools"] : [], "the next call is denied");
}

/** Settings that are missing, empty or of an unknown mode. */
async function unreadableSettings(mesh: AttackMesh): Promise<Finding> {
  const workspace = mesh.workspace();
  const headers = { authorization: `Bearer ${mesh.localToken}`, "content-type": "application/json" };
  const problems: string[] = [];
  for (const settings of [undefined, {}, { mode: "PERMISSION_MODE_UNSPECIFIED" }, { mode: 99 }, { mode: "yolo" }, null, { mode: -1 }]) {
    const prompt = `attack ${randomUUID()}`;
    mesh.model.play(prompt, [{ calls: [shell("touch pwned"), writeFile("pwned")] }], "done");
    const response = await fetch(`${mesh.mesh.state.edgeUrl}/hlvm.session.v1.SessionService/StartRun`, {
      method: "POST",
      headers,
      body: JSON.stringify({ prompt, workspace, model: "openai-compatible/hostile", settings }),
    });
    await response.arrayBuffer();
    if (response.ok) problems.push(`a run was started with the settings ${JSON.stringify(settings)}`);
  }
  if (mesh.exists(join(workspace, "pwned"))) problems.push("a tool ran");
  return findingOf(problems, "no run without settings that can be read");
}

export const tenants: readonly AttackCase[] = [
  { group: "H", name: "an organization in the request body or a header", run: organizationInBody },
  { group: "H", name: "a look-up by id from another organization", run: acrossOrganizations },
  { group: "H", name: "an approver from elsewhere, or without the role", run: wrongApprover },
  { group: "H", name: "an approval answered or used twice", run: answeredTwice },
  { group: "H", name: "arguments changed after they were allowed", run: otherArguments },
  { group: "H", name: "a role taken away in the middle of a session", run: revokedRole },
  { group: "H", name: "settings that cannot be read", run: unreadableSettings },
];
