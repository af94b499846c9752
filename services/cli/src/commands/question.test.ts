import { describe, expect, it } from "vitest";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ApprovalAnswer, ApprovalKind, ApprovalState, type ApprovalSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { approvalInit } from "../testing/test-approval.ts";

const ID = "5f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e";
const HASH = "cd".repeat(32);
const ASKED = {
  approvalId: ID,
  tool: "request_clarification",
  kind: ApprovalKind.QUESTION,
  state: ApprovalState.PENDING,
  argumentsHash: HASH,
  argumentsJson: JSON.stringify({ question: "Which one?\u001b[2J", choices: ["SQLite", "PostgreSQL"] }),
};

/** Where an action waits too. */
async function edgeThatAsks(question: MessageInitShape<typeof ApprovalSchema> = ASKED) {
  const edge = await edgeWith(async () => {});
  edge.approvals.push(approvalInit("shell_exec", { command: "touch pwned" }), question);
  const hlvm = (...words: string[]) => runHlvm(["question", ...words], { edgeUrl: edge.url });
  return { edge, hlvm };
}

describe("hlvm question", () => {
  it("lists questions and nothing else that waits, with their choices, and nothing of them acts on the terminal", async () => {
    const { hlvm } = await edgeThatAsks();
    const rows = hlvm("list");
    const lines = hlvm("list", "--json");
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(new RegExp(`^APPROVAL .*\n${ID} .*Which one\\?␛\\[2J +1: SQLite · 2: PostgreSQL\n$`));
    expect(await lines.ended).toBe(0);
    expect(lines.stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(lines.stdout)).toMatchObject({ approval_id: ID, kind: "question" });
  });

  it("says where no model asks anything", async () => {
    const edge = await edgeWith(async () => {});
    const list = runHlvm(["question", "list"], { edgeUrl: edge.url });
    expect(await list.ended).toBe(0);
    expect(list.stderr).toBe("No model asks you anything.\n");
  });

  it.each([
    [["my own words"], "my own words"],
    [["--choice", "2"], "PostgreSQL"],
  ])("answers with %j", async (given, text) => {
    const { edge, hlvm } = await edgeThatAsks();
    const answer = hlvm("answer", ID, ...given);
    expect(await answer.ended).toBe(0);
    expect(answer.stderr).toBe("Answered.\n");
    expect(edge.answers).toMatchObject([{ approvalId: ID, answer: ApprovalAnswer.ONCE, argumentsHash: HASH, text }]);
  });

  it.each([
    [[], "Give the answer in words"],
    [["SQLite", "--choice", "1"], "Give the answer in words"],
    [["--choice", "3"], "It has 2 choices."],
    [["--choice", "0"], "choice"],
  ])("refuses %j, and answers nothing", async (given, said) => {
    const { edge, hlvm } = await edgeThatAsks();
    const answer = hlvm("answer", ID, ...given);
    expect(await answer.ended).toBe(2);
    expect(answer.stderr).toContain(said);
    expect(edge.answers).toEqual([]);
  });

  it("takes no words for an action that waits: nobody has seen it", async () => {
    const { edge, hlvm } = await edgeThatAsks();
    const answer = hlvm("answer", "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e", "yes");
    expect(await answer.ended).toBe(2);
    expect(answer.stderr).toContain("It is no question of a model.");
    expect(edge.answers).toEqual([]);
  });

  it("takes a plain answer to a question without choices, and no number", async () => {
    const { edge, hlvm } = await edgeThatAsks({ ...ASKED, argumentsJson: JSON.stringify({ question: "Why?" }) });
    expect(await hlvm("answer", ID, "--choice", "1").ended).toBe(2);
    expect(await hlvm("answer", ID, "because").ended).toBe(0);
    expect(edge.answers).toMatchObject([{ text: "because" }]);
  });

  it("leaves one unanswered, with words or without", async () => {
    const { edge, hlvm } = await edgeThatAsks();
    const decline = hlvm("decline", ID, "ask the team");
    expect(await decline.ended).toBe(0);
    expect(decline.stderr).toBe("Not answered.\n");
    expect(await hlvm("decline", ID).ended).toBe(0);
    expect(edge.answers).toMatchObject([
      { approvalId: ID, answer: ApprovalAnswer.DENY, text: "ask the team" },
      { answer: ApprovalAnswer.DENY, text: "" },
    ]);
  });
});
