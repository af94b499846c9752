import { describe, expect, it } from "vitest";
import { ApprovalAnswer, ApprovalState } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { approvalInit } from "../testing/test-approval.ts";

const ID = "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e";
const HASH = "ab".repeat(32);

async function edgeThatAsks(command: string) {
  const edge = await edgeWith(async () => {});
  edge.approvals.push(approvalInit("shell_exec", { command }, "touch pwned"));
  return edge;
}

describe("hlvm approval", () => {
  it("lists what waits, with nothing of it hidden by blanks", async () => {
    const edge = await edgeThatAsks(`ls;${" ".repeat(3_000)}touch pwned`);
    const rows = runHlvm(["approval", "list"], { edgeUrl: edge.url });
    const lines = runHlvm(["approval", "list", "--json"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(new RegExp(`^APPROVAL .*\n${ID} .*user:ada +action +shell_exec +L2 +.*ls;␠ × 3000touch pwned`));
    expect(await lines.ended).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({ approval_id: ID, tool: "shell_exec", state: "pending", arguments_hash: HASH });
  });

  it("shows one whole, and as JSON with its hash and its rendering", async () => {
    const edge = await edgeThatAsks(`touch pwned;${"\n".repeat(61)}echo ${"x".repeat(500)}`);
    const text = runHlvm(["approval", "show", ID], { edgeUrl: edge.url });
    const json = runHlvm(["approval", "show", ID, "--json"], { edgeUrl: edge.url });
    expect(await text.ended).toBe(0);
    expect(text.stdout).toContain(` > command: >>>touch pwned<<<;\n|  ⟦60 empty lines⟧\n|  echo ${"x".repeat(500)}\n`);
    expect(text.stdout).toContain(`pending`);
    expect(text.stdout).toContain(`arguments ${HASH}`);
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      arguments_hash: HASH,
      rendering: {
        lines: [
          {
            spans: [
              { text: "command:", kind: "label" },
              { text: "touch pwned", kind: "marked" },
              { text: ";", kind: "plain" },
            ],
          },
          { spans: [{ text: "60 empty lines", kind: "escaped" }] },
          {},
        ],
      },
    });
  });

  it("allows one without a terminal only by the hash of what was shown", async () => {
    const edge = await edgeThatAsks("touch pwned");
    const blind = runHlvm(["approval", "yes", ID], { edgeUrl: edge.url });
    expect(await blind.ended).toBe(2);
    expect(blind.stderr).toContain("--arguments-hash");
    expect(edge.answers).toEqual([]);
    const seen = runHlvm(["approval", "yes", ID, "--arguments-hash", HASH], { edgeUrl: edge.url });
    expect(await seen.ended).toBe(0);
    expect(edge.answers).toMatchObject([{ approvalId: ID, answer: ApprovalAnswer.ONCE, argumentsHash: HASH }]);
  });

  it("allows one on a terminal when the end of it was seen", async () => {
    const edge = await edgeThatAsks(`touch pwned\n${"echo fine\n".repeat(30)}`);
    const hlvm = runHlvm(["approval", "yes", ID], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("go on (1 more)");
    hlvm.child.stdin!.write("y");
    await hlvm.shows("the rest has to be seen first");
    hlvm.child.stdin!.write(" ");
    await hlvm.shows("y / n / a");
    expect(edge.answers).toEqual([]);
    hlvm.child.stdin!.write("y");
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers).toMatchObject([{ approvalId: ID, answer: ApprovalAnswer.ONCE, argumentsHash: HASH }]);
  });

  it("leaves one unanswered on Ctrl-C", async () => {
    const edge = await edgeThatAsks("touch pwned");
    const hlvm = runHlvm(["approval", "yes", ID], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write("\u0003");
    expect(await hlvm.ended).toBe(130);
    expect(edge.answers).toEqual([]);
  });

  it("denies one", async () => {
    const edge = await edgeThatAsks("touch pwned");
    const hlvm = runHlvm(["approval", "no", ID], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers).toMatchObject([{ approvalId: ID, answer: ApprovalAnswer.DENY }]);
  });

  it("says that one no longer waits, and what is no id", async () => {
    const edge = await edgeThatAsks("touch pwned");
    edge.approvals[0] = { ...edge.approvals[0], state: ApprovalState.EXPIRED };
    const late = runHlvm(["approval", "yes", ID], { edgeUrl: edge.url, terminal: true });
    expect(await late.ended).toBe(1);
    expect(late.stdout).toContain("it is expired");
    const wrong = runHlvm(["approval", "no", "the-last-one"], { edgeUrl: edge.url });
    expect(await wrong.ended).toBe(2);
  });

  it("lists by state, tool, level, who and when", async () => {
    const edge = await edgeThatAsks("ls");
    edge.approvals[0] = { ...edge.approvals[0], state: ApprovalState.DENIED, answeredBy: "user:ben" };
    const words = "--state denied expired --tool shell_exec --level L2 --requested-by user:ada --answered-by user:ben --limit 7";
    const rows = runHlvm(["approval", "list", ...words.split(" ")], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(new RegExp(`^APPROVAL .*\n${ID} .*denied +user:ben +user:ada +action +shell_exec +L2 `));
    expect(edge.changes).toMatchObject([
      [
        "listApprovals",
        {
          states: [ApprovalState.DENIED, ApprovalState.EXPIRED],
          tool: "shell_exec",
          safetyLevel: SafetyLevel.L2,
          requestedBy: "user:ada",
          answeredBy: "user:ben",
          pageSize: 7,
        },
      ],
    ]);
    const wrong = runHlvm(["approval", "list", "--state", "odd"], { edgeUrl: edge.url });
    expect(await wrong.ended).toBe(2);
  });

  it("allows and denies several, says what came of each, and allows none that nobody saw", async () => {
    const edge = await edgeThatAsks("ls");
    const gone = ID.replace("1f0c", "2f0c");
    const unseen = runHlvm(["approval", "yes", ID, gone], { edgeUrl: edge.url });
    expect(await unseen.ended).toBe(2);
    expect(unseen.stderr).toContain("Give each as ID=HASH");
    const odd = runHlvm(["approval", "yes", `${ID}=odd`, gone], { edgeUrl: edge.url });
    expect(await odd.ended).toBe(2);
    expect(edge.changes).toEqual([]);
    const yes = runHlvm(["approval", "yes", `${ID}=${HASH}`, `${gone}=${HASH}`, "--json"], { edgeUrl: edge.url });
    expect(await yes.ended).toBe(1);
    expect(jsonLines(yes.stdout)).toMatchObject([
      { approval_id: ID, refused_reason: "" },
      { approval_id: gone, refused_reason: "gone" },
    ]);
    const no = runHlvm(["approval", "no", ID, gone, "--reason", "Not today."], { edgeUrl: edge.url });
    expect(await no.ended).toBe(1);
    expect(no.stderr).toContain(`${ID}: Denied.`);
    expect(no.stderr).toContain(`${gone}: It is gone.`);
    expect(edge.changes).toMatchObject([
      ["answerApprovals", { answer: ApprovalAnswer.ONCE, approvals: [{ approvalId: ID, argumentsHash: HASH }, { approvalId: gone }] }],
      ["answerApprovals", { answer: ApprovalAnswer.DENY, reason: "Not today." }],
    ]);
    const one = runHlvm(["approval", "no", ID, "--reason", "Not today."], { edgeUrl: edge.url });
    expect(await one.ended).toBe(0);
    expect(edge.answers).toMatchObject([{ approvalId: ID, answer: ApprovalAnswer.DENY, reason: "Not today." }]);
  });
});
