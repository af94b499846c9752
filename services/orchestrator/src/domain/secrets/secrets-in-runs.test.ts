import { AttachmentSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ApprovalState, DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ToolOutput_Stream } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { refuse } from "../../testing/refuse.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const token = `${["gh", "p_"].join("")}${"a1B2".repeat(9)}`;
const awsKey = ["AK", "IAIOSFODNN7EXAMPLE"].join("");
const test = useTestOrchestrator();

/** Everything that the run left behind: its log, its session, what the audit log and memory were told. */
async function leftBehind(): Promise<string> {
  const events = await test.database.query<{ payload: Buffer }>("SELECT payload FROM event");
  const sessions = await test.database.query<{ title: string }>("SELECT title FROM session");
  return `${events.map(({ payload }) => payload.toString("utf8")).join("\n")}${JSON.stringify(sessions)}${JSON.stringify(test.fake.seen.outcomes, bigintAsText)}`;
}

const bigintAsText = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
const seenByModel = (call: number): string => JSON.stringify(test.fake.seen.requests[call]!.messages, bigintAsText);

describe("secrets in a run", () => {
  it("do not stand in clear in the event log, in the audit log, in memory or before the model", async () => {
    const queries: string[] = [];
    test.fake.behaviour.recall = (query) => {
      queries.push(query);
      return { facts: [{ text: `The key is ${awsKey}.` }] };
    };
    test.fake.behaviour.execute = async function* () {
      const stream = ToolOutput_Stream.STDOUT;
      for (const text of [`token: ${token.slice(0, 12)}`, token.slice(12, 30), `${token.slice(30)}\n`])
        yield { event: { case: "output", value: { stream, text } } };
      yield { event: { case: "result", value: { success: true, content: `token: ${token}\n`, summary: `token: ${token}` } } };
    };
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say(`I use ${token}.`, [{ tool: "shell_exec", arguments: { command: `echo ${token}` } }]) : say(`It was ${token}`);
    const attachments = [create(AttachmentSchema, { path: "a.env", text: `KEY=${awsKey}` })];
    const { events, stopped } = await test.run(`Use ${token}`, { attachments });

    const left = await leftBehind();
    expect(left).not.toContain(token);
    expect(left).not.toContain(awsKey);
    expect([...queries, seenByModel(0), seenByModel(1)].join("\n")).not.toMatch(new RegExp(`${token}|${awsKey}`));
    const mark = valuesOf(events, "userMessage")[0]!.text.slice("Use ".length);
    expect(mark).toMatch(/^\[secret: GitHub token [0-9a-f]{4}\]$/);
    expect(
      valuesOf(events, "toolOutput")
        .map(({ output }) => output!.text)
        .join(""),
    ).toBe(`token: ${mark}\n`);
    expect(valuesOf(events, "toolEnd")[0]!.result).toMatchObject({ content: `token: ${mark}\n`, summary: `token: ${mark}` });
    expect(
      valuesOf(events, "messageDelta")
        .map(({ text }) => text)
        .join(""),
    ).toBe(`I use ${mark}.It was ${mark}`);
    expect(stopped.text).toBe(`It was ${mark}`);
    expect(test.fake.seen.outcomes[0]!.summary).toBe(`token: ${mark}`);
  });

  it("run as the model wrote them: what is decided and executed keeps its bytes, what is shown of it does not", async () => {
    test.answers(["", [{ tool: "shell_exec", arguments: { command: `echo ${token}` } }]], ["Done."]);
    const { events } = await test.run();
    expect(test.fake.seen.decided[0]!.call!.argumentsJson).toBe(`{"command":"echo ${token}"}`);
    expect(test.fake.seen.executed[0]!.call!.argumentsJson).toBe(`{"command":"echo ${token}"}`);
    for (const shown of [...valuesOf(events, "toolSelected"), ...valuesOf(events, "toolStart")])
      expect(shown.argumentsJson).toMatch(/^\{"command":"echo \[secret: GitHub token [0-9a-f]{4}\]"\}$/);
    expect(seenByModel(1)).not.toContain(token);
  });

  it("are shown to the person who approves alone: the log's approval has the mark, and the hash of what will run", async () => {
    const argumentsJson = `{"command":"echo ${token}"}`;
    test.fake.behaviour.decide = ({ call }) => ({
      decision: Decision.ASK,
      step: DecidingStep.MODE,
      reason: `It runs echo ${token}.`,
      approval: {
        approvalId: "1b4f0c2e-6f5e-4d5a-9a44-0b8f4f4a7d11",
        callId: call!.callId,
        tool: call!.tool,
        argumentsJson: call!.argumentsJson,
        argumentsHash: sha256Hex(call!.argumentsJson),
        reason: `It runs echo ${token}.`,
        state: ApprovalState.PENDING,
      },
    });
    test.fake.behaviour.awaitApproval = () => Promise.resolve({ decision: Decision.ALLOW, step: DecidingStep.APPROVAL, grant: "grant" });
    test.answers(["", [{ tool: "shell_exec", arguments: { command: `echo ${token}` } }]], ["Done."]);
    const { events } = await test.run();
    const { approval } = valuesOf(events, "permissionCheck")[0]!;
    expect(approval).toMatchObject({ argumentsHash: sha256Hex(argumentsJson), tool: "shell_exec", state: ApprovalState.PENDING });
    expect(approval!.argumentsJson).toMatch(/\[secret: GitHub token/);
    expect(test.fake.seen.executed[0]!.call!.argumentsJson).toBe(argumentsJson);
    expect(await leftBehind()).not.toContain(token);
  });

  it("do not come in with an error either", async () => {
    const broken = new HlvmError({ code: "failed_precondition", reason: "broken", message: `It broke at ${token}.` });
    test.fake.behaviour.execute = () => refuse(broken);
    test.fake.behaviour.generate = (_, call) =>
      call === 1
        ? say("", [
            { tool: "shell_exec", arguments: { command: "x" } },
            { tool: "read_file", arguments: `{"path": ${token}` },
          ])
        : say("No.", [], FinishReason.REFUSAL, `because of ${token}`);
    const { stopped } = await test.run();
    expect(stopped.message).toMatch(/because of \[secret: GitHub token/);
    expect(await leftBehind()).not.toContain(token);
    expect(seenByModel(1)).not.toContain(token);
  });

  it("are seen by the model alone, in one run alone, where a person allows one", async () => {
    test.answers(["Hi."]);
    const first = await test.run(`Use ${token} and ${awsKey}`);
    const id = /GitHub token ([0-9a-f]{4})\]/.exec(valuesOf(first.events, "userMessage")[0]!.text)![1]!;
    test.fake.seen.requests.length = 0;
    test.answers([`I do: ${token}`, [{ tool: "shell_exec", arguments: { command: `echo ${token}` } }]], ["Done."]);
    const { sessionId } = first;
    const second = await test.run(`Use ${token} and ${awsKey} now`, { sessionId, allowedSecrets: [id] });

    expect(seenByModel(0)).toContain(`Use ${token} and [secret: AWS key`);
    expect(seenByModel(0)).not.toContain(awsKey);
    expect(seenByModel(1)).toContain(`echo ${token}`);
    expect(test.fake.seen.executed.at(-1)!.call!.argumentsJson).toBe(`{"command":"echo ${token}"}`);
    expect(valuesOf(second.events, "runStarted")[0]!.allowedSecrets).toEqual([id]);
    expect(await leftBehind()).not.toContain(token);

    test.fake.seen.requests.length = 0;
    test.answers(["Hi."]);
    await test.run("and now?", { sessionId });
    expect(seenByModel(0)).not.toContain(token);
  });

  it("are not written over by their mark", async () => {
    test.answers(
      ["", [{ tool: "write_file", arguments: { path: ".env", content: "A=1\nTOKEN=[secret: GitHub token a1b2]\n" } }]],
      ["Done."],
    );
    const { results } = await test.run();
    expect(results[0]).toMatchObject({
      success: false,
      errorCode: "invalid_arguments",
      content: expect.stringContaining("--allow-secret"),
    });
    expect(test.fake.seen.executed).toEqual([]);
  });

  it("refuses to allow what is no fingerprint and no kind", async () => {
    await expect(test.ask("q", { allowedSecrets: ["[secret: x]"] })).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
