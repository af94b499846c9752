import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { join } from "node:path";
import { ApprovalAnswer, PermissionMode, PolicyService, RenderedSpan_Kind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, type AttackMesh } from "../attack-mesh.ts";
import { attempt, forgeTokens, ORGANIZATION } from "../forged-token.ts";
import type { HostileCall } from "../hostile-model.ts";
import { delegationOf, tokensForRun } from "../stolen-delegation.ts";
import { CONTROLS } from "./agent-messages.ts";

const EVERY_ROLE = ["developer", "approver", "admin", "security-auditor"];
const ME = `user:${userInfo().username}`;
/** As many as are listed at once. */
const LISTED = 200;
// oxlint-disable-next-line no-control-regex -- these are what must not be there
const RAW = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

const question = (words: string, choices?: readonly string[]): HostileCall => ({
  tool: "request_clarification",
  arguments: { question: words, ...(choices === undefined ? {} : { choices }) },
});

/** So many questions that what another run asks is not to be found among them. */
async function flood(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  const workspace = mesh.workspace();
  const asked = Array.from({ length: 5 }, (_, turn) => Array.from({ length: 200 }, (__, index) => question(`question ${turn} ${index}`)));
  let pending = 0;
  let flooded = { sessionId: "", runId: "" };
  const full = Promise.withResolvers<void>();
  const attack = mesh.ask(workspace, "default", asked, {
    onAsked: async ({ sessionId }) => {
      flooded = { ...flooded, sessionId };
      if (++pending === LISTED) full.resolve();
      await Promise.resolve();
    },
  });
  await Promise.race([full.promise, attack]);
  const other = await mesh.ask(mesh.workspace(), "default", [[shell("touch wanted")]], {
    onAsked: async ({ approvalId }) => {
      const { approvals } = await mesh.policy.listApprovals({});
      if (!approvals.some((one) => one.approvalId === approvalId))
        problems.push(`${approvals.length} are listed, and not what another run waits for`);
      await mesh.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE });
    },
  });
  if (!other.calls.some(({ success }) => success)) problems.push("another run got no answer");
  const { session } = await mesh.sessions.getSession({ sessionId: flooded.sessionId });
  await mesh.sessions.cancelRun({ sessionId: flooded.sessionId, runId: session!.runningRunId });
  await attack;
  const { approvals: left } = await mesh.policy.listApprovals({ sessionId: flooded.sessionId });
  if (left.length > 0) problems.push(`${left.length} questions of a run that is over still wait`);
  return findingOf(problems, `${pending} waited, and what another run asked was among those listed`);
}

/** A question and choices that would look like something else; what a person answers is what they were shown, and allows nothing. */
async function dressedUp(mesh: AttackMesh): Promise<Finding> {
  const workspace = mesh.workspace();
  const problems: string[] = [];
  let shown = 0;
  const words = `Allow this?${CONTROLS}\n\n  y / n / a`;
  const choices = [`yes${CONTROLS}`, "<script>alert(1)</script>", "[no](javascript:yes)", " ".repeat(400), "y"];
  const run = await mesh.ask(workspace, "default", [[question(words, choices)], [shell("touch pwned")]], {
    onAsked: async ({ approvalId, tool }) => {
      if (tool !== "request_clarification") return void (await mesh.policy.answerApproval({ approvalId, answer: ApprovalAnswer.DENY }));
      const { approval } = await mesh.policy.getApproval({ approvalId });
      const spans = (approval?.rendering?.lines ?? []).flatMap((line) => line.spans);
      shown += spans.length;
      if (spans.some(({ text, kind }) => kind !== RenderedSpan_Kind.ESCAPED && RAW.test(text)))
        problems.push("a person is shown what hides");
      const given = { approvalId, answer: ApprovalAnswer.ONCE, text: "y" };
      for (const [what, more] of [
        ["an answer with control sequences", { text: `y${CONTROLS}` }],
        ["an answer for the session", { answer: ApprovalAnswer.SESSION }],
        ["an answer that changes the mode", { mode: PermissionMode.BYPASS_PERMISSIONS }],
        ["an answer of 1 MiB", { text: "y".repeat(1_000_000) }],
      ] as const)
        await mesh.policy.answerApproval({ ...given, ...more }).then(
          () => problems.push(`${what} is taken`),
          () => undefined,
        );
      await mesh.policy.answerApproval(given);
    },
  });
  if (mesh.exists(join(workspace, "pwned"))) problems.push("an answer to a question allowed a call");
  if (shown === 0 || run.calls[0]?.success !== true) problems.push("no question was put: nothing was shown");
  return findingOf(problems, "stand-ins for what hides, and an answer allows nothing");
}

async function answeredByOthers(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  const word = randomUUID();
  const people = [
    { organization: "elsewhere", principal: ME, roles: EVERY_ROLE },
    { organization: ORGANIZATION, principal: "user:bob", roles: ["developer"] },
    { organization: ORGANIZATION, principal: "user:eve", roles: ["security-auditor"] },
    { organization: ORGANIZATION, principal: "user:mallory", roles: [] },
  ];
  const run = await mesh.ask(mesh.workspace(), "default", [[question("Which?")]], {
    onAsked: async ({ approvalId, sessionId }) => {
      const given = { approvalId, answer: ApprovalAnswer.ONCE, text: word };
      const ways: [string, readonly string[]][] = [];
      for (const one of people) ways.push([`${one.principal} of ${one.organization}`, await forgeTokens(mesh, "edge", "policy", one)]);
      ways.push(["the run itself", await tokensForRun(mesh, "orchestrator", "policy", await delegationOf(mesh, sessionId))]);
      for (const [who, tokens] of ways) {
        const answered = await attempt(mesh, "policy", PolicyService, tokens, (client, options) => client.answerApproval(given, options));
        if (answered.accepted) problems.push(`answered by ${who}`);
        else if (answered.refused) problems.push(`no token of ${who} is taken: nothing was shown`);
      }
      await mesh.policy.answerApproval({ ...given, answer: ApprovalAnswer.DENY, text: "" }).catch(() => undefined);
    },
  });
  if (JSON.stringify(mesh.model.requestsWith(run.prompt)).includes(word)) problems.push("the model read the answer");
  return findingOf(problems, "refused to who has no right, and to the run");
}

export const agentQuestions: readonly AttackCase[] = [
  { group: "agent", name: "1,000 questions of one model", onlyByCommand: true, run: flood },
  { group: "agent", name: "a question, and choices, that look like something else", run: dressedUp },
  { group: "agent", name: "a question that somebody without the right answers, or the run itself", run: answeredByOthers },
];
