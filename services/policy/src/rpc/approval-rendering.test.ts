import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import {
  ApprovalAnswer,
  ApprovalState,
  PermissionMode,
  RenderedSpan_Kind,
  type Approval,
  type ApprovalRendering,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

async function asked(call: Asked, mode: PermissionMode = PermissionMode.DEFAULT): Promise<Approval> {
  const one = callOf(call);
  const run = { principal: person, sessionId: one.sessionId, runId: one.runId, settings: settingsOf({ mode }) };
  const { verdict } = await service.policy.decide({ call: one }, service.forRun(run));
  return verdict!.approval!;
}

async function got(approvalId: string, principal = testPrincipal): Promise<Approval> {
  return (await service.policy.getApproval({ approvalId }, service.as(principal))).approval!;
}

const WORDS: Readonly<Record<number, string>> = {
  [RenderedSpan_Kind.PLAIN]: "plain",
  [RenderedSpan_Kind.LABEL]: "label",
  [RenderedSpan_Kind.ESCAPED]: "escaped",
  [RenderedSpan_Kind.MARKED]: "marked",
};

function linesOf(rendering: ApprovalRendering | undefined): string[] {
  return rendering!.lines.map((line) => line.spans.map(({ kind, text }) => `${WORDS[kind]}(${text})`).join(" "));
}

describe("an approval's rendering", () => {
  it("keeps what comes before sixty line ends or three thousand blanks in sight, and marks it", async () => {
    const lines = await asked(shell(`touch pwned;${"\n".repeat(61)}echo all is well`));
    expect(linesOf(lines.rendering)).toEqual([
      "label(command:) marked(touch pwned) plain(;)",
      "escaped(60 empty lines)",
      "plain(echo all is well)",
    ]);
    const blanks = await asked(shell(`touch pwned;${" ".repeat(3_000)}echo all is well`));
    expect(linesOf(blanks.rendering)).toEqual(["label(command:) marked(touch pwned) plain(;) escaped(␠ × 3000) plain(echo all is well)"]);
  });

  it("marks the path of a write to what other programs obey", async () => {
    const write = { tool: "write_file", arguments: { path: ".git/hooks/pre-commit", content: "#!/bin/sh\n" } };
    const { rendering } = await asked(write, PermissionMode.ACCEPT_EDITS);
    expect(linesOf(rendering)).toEqual(["label(path:) marked(.git/hooks/pre-commit)", "label(content:) plain(#!/bin/sh)", ""]);
    const harmless = await asked({ tool: "write_file", arguments: { path: "a.txt", content: "hi" } });
    expect(linesOf(harmless.rendering)).toEqual(["label(path:) plain(a.txt)", "label(content:) plain(hi)"]);
  });

  it("marks the folder that a command starts in where that is the reason", async () => {
    const call = { tool: "shell_exec", arguments: { command: "touch pre-commit", working_directory: ".git/hooks" } };
    const { rendering } = await asked(call, PermissionMode.ACCEPT_EDITS);
    expect(linesOf(rendering)).toEqual(["label(working_directory:) marked(.git/hooks)", "label(command:) marked(touch pre-commit)"]);
  });

  it("says with the question how much of a very long text it leaves out, and is whole by itself", async () => {
    const content = "a line of the file\n".repeat(20_000);
    const { approvalId, rendering, argumentsJson } = await asked({ tool: "write_file", arguments: { path: "a.txt", content } });
    expect(rendering!.omittedCharacters).toBeGreaterThan(100_000);
    const whole = await got(approvalId);
    expect(whole).toMatchObject({ argumentsJson, state: ApprovalState.PENDING, rendering: { omittedCharacters: 0 } });
    expect(whole.rendering!.lines).toHaveLength(20_002);
  });

  it("is shown to who may answer and to who asked, and to nobody else", async () => {
    const { approvalId, rendering } = await asked(shell("npm test"));
    expect((await got(approvalId)).rendering).toEqual(rendering);
    expect((await got(approvalId, { ...person, roles: ["developer"] })).rendering).toEqual(rendering);
    expect(await failure(got(approvalId, { ...testPrincipal, roles: ["developer"] }))).toMatchObject({ reason: "approval_not_found" });
    expect(await failure(got(approvalId, { ...testPrincipal, organization: "other" }))).toMatchObject({ reason: "approval_not_found" });
  });
});

describe("an answer with the hash of what was shown", () => {
  it("is refused where something else would run, and taken where it is the same", async () => {
    const { approvalId, argumentsHash } = await asked(shell("npm test"));
    const other = await asked(shell("npm test -- --update"));
    const options = service.as(testPrincipal);
    const answer = (hash: string) =>
      service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, argumentsHash: hash }, options);
    expect(await failure(answer(other.argumentsHash))).toMatchObject({ code: "failed_precondition", reason: "arguments_differ" });
    expect(await failure(answer("short"))).toMatchObject({ code: "invalid_argument" });
    expect((await got(approvalId)).state).toBe(ApprovalState.PENDING);
    expect((await answer(argumentsHash)).approval).toMatchObject({ state: ApprovalState.APPROVED });
  });
});
