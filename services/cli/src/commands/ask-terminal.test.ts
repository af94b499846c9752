import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { approvalInit } from "../testing/test-approval.ts";
import type { Script } from "../testing/scripted-edge.ts";

describe("hlvm ask on a terminal", () => {
  const asks =
    (tool: string, given: Readonly<Record<string, string>>, marked = ""): Script =>
    async (it) => {
      const answered = it.until("answered");
      it.append({
        case: "permissionCheck",
        value: {
          callId: "c1",
          tool,
          decision: Decision.ASK,
          step: DecidingStep.MODE,
          approval: approvalInit(tool, given, marked),
        },
      });
      await answered;
      it.append({ case: "permissionCheck", value: { callId: "c1", tool, decision: Decision.ALLOW, step: DecidingStep.APPROVAL } });
      await answers(it);
    };

  it.each([
    ["y", ApprovalAnswer.ONCE],
    ["n", ApprovalAnswer.DENY],
    ["a", ApprovalAnswer.SESSION],
  ])("puts an approval with the exact command and takes %s", async (key, answer) => {
    const edge = await edgeWith(asks("shell_exec", { command: "printf '\u001b[2Jgone\u202e'" }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write(key);
    expect(await hlvm.ended).toBe(0);
    expect(edge.requests[0]!.settings!.canAsk).toBe(true);
    expect(edge.answers.map((given) => given.answer)).toEqual([answer]);
    expect(hlvm.stdout).toContain("shell_exec (L2) has to be approved: mode default asks for L2");
    expect(hlvm.stdout).toContain("printf '\u001b[7m␛\u001b[0m[2Jgone\u001b[7mU+202E\u001b[0m'");
    expect(edge.answers[0]!.argumentsHash).toBe("ab".repeat(32));
    expect(hlvm.stdout).toContain("It says hello.");
  });

  it("does not take what was typed ahead for an answer", async () => {
    let askNow = (): void => {};
    const mayAsk = new Promise<void>((resolve) => (askNow = resolve));
    const edge = await edgeWith(async (it) => {
      it.append({ case: "messageDelta", value: { text: "working" } });
      await mayAsk;
      await asks("shell_exec", { command: "ls" })(it);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("working");
    hlvm.child.stdin!.write("y");
    // It stands in the line below, where it was typed.
    await hlvm.shows("› y");
    askNow();
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write("n");
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers.map((given) => given.answer)).toEqual([ApprovalAnswer.DENY]);
  });

  it.each([
    ["sixty line ends", "\n".repeat(60)],
    ["three thousand blanks", " ".repeat(3_000)],
    ["sixty lines of comments", "# this is quite harmless\n".repeat(60)],
  ])("keeps on the first page a command that %s would move off the screen", async (_, filler) => {
    const edge = await edgeWith(asks("shell_exec", { command: `touch pwned;${filler}echo all is well` }, "touch pwned"));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true, environment: { NO_COLOR: "1" } });
    await hlvm.shows(filler.startsWith("#") ? "go on" : "y / n / a");
    expect(hlvm.stdout).toContain(">>>touch pwned<<<");
    hlvm.child.stdin!.write("n");
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers.map(({ answer }) => answer)).toEqual([ApprovalAnswer.DENY]);
  });

  it("does not take y for what was not seen to its end", async () => {
    const command = `touch pwned\n${"# this is quite harmless\n".repeat(60)}`;
    const edge = await edgeWith(asks("shell_exec", { command }, "touch pwned"));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("go on (3 more)");
    hlvm.child.stdin!.write("y");
    await hlvm.shows("the rest has to be seen first");
    expect(edge.answers).toEqual([]);
    for (const left of ["go on (2 more)", "go on (1 more)", "y / n / a"]) {
      hlvm.child.stdin!.write(" ");
      await hlvm.shows(left);
    }
    hlvm.child.stdin!.write("y");
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers.map(({ answer }) => answer)).toEqual([ApprovalAnswer.ONCE]);
  });

  it("lets nothing else on the terminal while a question stands there", async () => {
    const shown = Promise.withResolvers<void>();
    const edge = await edgeWith(async (it) => {
      const answered = it.until("answered");
      const question = asks("shell_exec", { command: "ls" })(it);
      await shown.promise;
      for (let line = 0; line < 30; line += 1) it.append({ case: "messageDelta", value: { text: `line ${line}\n` } });
      await answered;
      await question;
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    shown.resolve();
    hlvm.child.stdin!.write("n");
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout.indexOf("line 29")).toBeGreaterThan(hlvm.stdout.indexOf("y / n / a"));
  });

  it("shows whoever approves the secret that will run, which the log has a mark for", async () => {
    const approvalId = "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e";
    const real = JSON.stringify({ command: "login hunter2" });
    const approval = { approvalId, tool: "shell_exec", argumentsHash: sha256Hex(real), state: ApprovalState.PENDING };
    const edge = await edgeWith(async (it) => {
      const answered = it.until("answered");
      it.approvals.push({ ...approval, approvalId: randomUUID(), argumentsJson: "{}" }, { ...approval, argumentsJson: real });
      const logged = { ...approval, argumentsJson: JSON.stringify({ command: "login [secret: password a1b2]" }) };
      it.append({ case: "permissionCheck", value: { callId: "c1", tool: "shell_exec", decision: Decision.ASK, approval: logged } });
      await answered;
      await answers(it);
    });
    const hlvm = runHlvm(["ask", "--allow-secret", "a1b2", "--allow-secret", "AWS key", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write("n");
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toContain("login hunter2");
    expect(hlvm.stdout).not.toContain("[secret: password a1b2]");
    expect(edge.requests[0]!.allowedSecrets).toEqual(["a1b2", "AWS key"]);
  });

  it("withdraws the question when somebody else answers it", async () => {
    const edge = await edgeWith(asks("write_file", { path: "a.txt", content: "one\ntwo" }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    edge.answeredElsewhere();
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers).toEqual([]);
    expect(hlvm.stdout).toContain("path:\u001b[0m a.txt");
    expect(hlvm.stdout).toContain("two");
    expect(hlvm.stdout).toContain("The question is closed");
  });

  it("shows nothing to a terminal that would make it act", async () => {
    const edge = await edgeWith(async (it) => it.stop(StopReason.COMPLETED, { text: "a\u001b]52;c;cm0gLXJm\u0007b\u009b31m\u202ec" }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toContain("a␛]52;c;cm0gLXJm␇b<U+009B>31m<U+202E>c");
  });
});
