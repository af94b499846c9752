import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { JSON_TYPE, OWN_PAGE, type DoorsMesh } from "../doors-mesh.ts";

const SESSIONS = "hlvm.session.v1.SessionService";
const POLICY = "hlvm.policy.v1.PolicyService";
const TOKENS = "hlvm.identity.v1.TokenService";
const ASK_MILLISECONDS = 20_000;

interface Approval {
  readonly approvalId: string;
  readonly runId: string;
  readonly argumentsHash?: string;
  readonly preview?: { readonly hash: string };
}

interface Asked extends Approval {
  readonly workspace: string;
  /** Settles when the run has ended. */
  readonly ended: () => Promise<true>;
}

/** What somebody's run asks to be approved, in a folder of its own. */
async function asked(doors: DoorsMesh, browser: TestBrowser, prompt: string, lay: (workspace: string) => void): Promise<Asked> {
  const workspace = mkdtempSync(join(tmpdir(), "hlvm-doors-"));
  lay(workspace);
  const settings = { mode: "PERMISSION_MODE_DEFAULT", canAsk: true };
  const started = await doors.call(browser, `${SESSIONS}/StartRun`, { prompt, workspace, settings });
  const { runId, sessionId } = JSON.parse(started.body) as { runId: string; sessionId: string };
  if (started.status !== 200) throw new Error(`the run does not begin: ${started.body}`);
  const approval = await awaited(async () => {
    const { approvals = [] } = JSON.parse((await doors.call(browser, `${POLICY}/ListApprovals`)).body) as { approvals?: Approval[] };
    const mine = approvals.find((one) => one.runId === runId);
    if (mine === undefined) return undefined;
    const got = await doors.call(browser, `${POLICY}/GetApproval`, { approvalId: mine.approvalId });
    const { approval: whole } = JSON.parse(got.body) as { approval: Approval };
    return prompt.startsWith("create") && whole.preview === undefined ? undefined : whole;
  });
  const ended = () =>
    awaited(async () => {
      const got = await doors.call(browser, `${SESSIONS}/GetSession`, { sessionId });
      const { session } = JSON.parse(got.body) as { session: { runningRunId?: string } };
      return session.runningRunId === undefined ? true : undefined;
    });
  return { ...approval, workspace, ended };
}

async function awaited<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (const until = performance.now() + ASK_MILLISECONDS; performance.now() < until; await sleep(100)) {
    const seen = await look();
    if (seen !== undefined) return seen;
  }
  throw new Error("it did not come in time");
}

const answer = (doors: DoorsMesh, browser: TestBrowser, { approvalId }: Approval, more: object = {}, headers = OWN_PAGE) =>
  doors.call(browser, `${POLICY}/AnswerApproval`, { approvalId, answer: "APPROVAL_ANSWER_ONCE", ...more }, headers);

function laid(workspace: string): void {
  mkdirSync(join(workspace, "build"));
}

async function ownRequest(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { browser: olga } = await doors.logIn("olga", { groups: ["developers", "approvers", "chiefs"] });
  const { browser: ben } = await doors.logIn("ben", { groups: ["approvers"] });
  const removal = await asked(doors, olga, "run rm -rf build", laid);
  for (const word of ["ONCE", "SESSION"]) {
    const { status } = await answer(doors, olga, removal, { answer: `APPROVAL_ANSWER_${word}` });
    if (status < 400) problems.push(`who asked allows it (${word})`);
  }
  const { approvalId, argumentsHash } = removal;
  const several = await doors.call(olga, `${POLICY}/AnswerApprovals`, {
    approvals: [{ approvalId, argumentsHash }],
    answer: "APPROVAL_ANSWER_ONCE",
  });
  if (!existsSync(join(removal.workspace, "build"))) problems.push(`it ran: ${several.body.slice(0, 200)}`);
  const { status } = await answer(doors, ben, removal);
  if (status !== 200) problems.push(`somebody else's yes is answered ${status}`);
  await removal.ended();
  if (existsSync(join(removal.workspace, "build"))) problems.push("after somebody else's yes it does not run");
  return findingOf(problems, "somebody else has to allow what destroys, and then it runs");
}

async function answersOfPrograms(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { browser: root } = await doors.logIn("root", { groups: ["chiefs"] });
  const make = async (by: TestBrowser, scopes: readonly string[], serviceAccount = "") => {
    const body = { label: "x", scopes: scopes.map((scope) => `TOKEN_SCOPE_${scope}`), serviceAccount };
    const { status, body: text } = await doors.call(by, `${TOKENS}/CreateToken`, body);
    return { status, secret: status === 200 ? (JSON.parse(text) as { secret: string }).secret : "" };
  };
  for (const scope of ["APPROVE", "ADMIN"])
    if ((await make(root, [scope, "RUN"], "robot")).status < 400) problems.push(`a service account gets the scope ${scope}`);
  const { browser: olga } = await doors.logIn("olga", { groups: ["developers"] });
  const { browser: ben } = await doors.logIn("ben", { groups: ["developers", "approvers"] });
  const removal = await asked(doors, olga, "run rm -rf build", laid);
  for (const { secret } of [await make(root, ["READ", "RUN"], "robot"), await make(ben, ["RUN"])]) {
    const bearing = { ...JSON_TYPE, "sec-fetch-site": "same-origin", authorization: `Bearer ${secret}` };
    const { status, body } = await answer(doors, new TestBrowser(), removal, {}, bearing);
    if (status !== 403) problems.push(`a program's yes is answered ${status} ${body.slice(0, 100)}`);
  }
  if (!existsSync(join(removal.workspace, "build"))) problems.push("it ran");
  await answer(doors, root, removal, { answer: "APPROVAL_ANSWER_DENY" });
  await removal.ended();
  return findingOf(problems, "people answer, and tokens that were made for answering");
}

async function changedBetween(doors: DoorsMesh): Promise<Finding> {
  const { browser: olga } = await doors.logIn("olga", { groups: ["developers"] });
  const { browser: ben } = await doors.logIn("ben", { groups: ["approvers"] });
  const file = (workspace: string): string => join(workspace, "notes.txt");
  const lay = (workspace: string): void => writeFileSync(file(workspace), "as it was looked at");
  const overwriting = await asked(doors, olga, "create file notes.txt with the text changed by the run", lay);
  const problems: string[] = [];
  const other = await answer(doors, ben, overwriting, { previewHash: "cd".repeat(32) });
  if (other.status < 400) problems.push("an answer to another preview counts");
  writeFileSync(file(overwriting.workspace), "changed after the look");
  const { status } = await answer(doors, ben, overwriting, { previewHash: overwriting.preview!.hash });
  if (status !== 200) problems.push(`the answer is not taken: ${status}`);
  // It asks again where it would overwrite something else than was looked at; nobody answers then.
  await sleep(1_000);
  if (readFileSync(file(overwriting.workspace), "utf8") !== "changed after the look") problems.push("what nobody looked at is overwritten");
  return findingOf(problems, "a yes is for the file as it was looked at");
}

const attack = (name: string, run: (doors: DoorsMesh) => Promise<Finding>): AttackCase => ({
  group: "doors",
  name,
  run: async (mesh) => run(await mesh.doors()),
});

export const doorsApprovals: readonly AttackCase[] = [
  attack("an approver who is the requester, where two are required", ownRequest),
  attack("answers of service accounts and of tokens for something else", answersOfPrograms),
  attack("a file that changes between look and click", changedBetween),
];
