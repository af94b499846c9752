import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { runHlvm } from "../testing/run-hlvm.ts";
import { ScriptedEdge, type Script } from "../testing/scripted-edge.ts";

const edges: ScriptedEdge[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-ask-"));
});

afterEach(async () => {
  await Promise.all(edges.splice(0).map((edge) => edge.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function edgeWith(script: Script): Promise<ScriptedEdge> {
  const edge = new ScriptedEdge(script);
  await edge.start();
  edges.push(edge);
  return edge;
}

const answers: Script = async (edge) => {
  edge.append({ case: "messageDelta", value: { text: "It says " } });
  edge.append({ case: "messageDelta", value: { text: "hello." } });
  edge.append({ case: "assistantMessage", value: { text: "It says hello." } });
  edge.stop(StopReason.COMPLETED, { text: "It says hello." });
};

function jsonLines(text: string): { type: string; [field: string]: unknown }[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
}

describe("hlvm ask, as text", () => {
  it("writes the answer and nothing else to standard output, and ends with 0", async () => {
    const edge = await edgeWith(async (it) => {
      it.append({ case: "toolSelected", value: { callId: "c1", tool: "read_file", argumentsJson: '{"path":"a.txt"}' } });
      it.append({ case: "toolStart", value: { callId: "c1", tool: "read_file", argumentsSummary: "a.txt" } });
      it.append({
        case: "toolEnd",
        value: { callId: "c1", tool: "read_file", result: { success: true, durationMilliseconds: 3, resultBytes: 2048n } },
      });
      await answers(it);
    });
    const hlvm = runHlvm(["ask", "What", "does it say?"], { edgeUrl: edge.url, workingDirectory: folder });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toBe("It says hello.\n");
    expect(hlvm.stderr).toBe("✓ read_file a.txt · 3 ms · 2.0 KB\n");
    expect(edge.requests[0]).toMatchObject({
      prompt: "What does it say?",
      workspace: folder,
      settings: { mode: PermissionMode.DEFAULT, canAsk: false },
    });
  });

  it("shows the answer while the run is still going on", async () => {
    let finish = (): void => {};
    const mayFinish = new Promise<void>((resolve) => (finish = resolve));
    const edge = await edgeWith(async (it) => {
      it.append({ case: "messageDelta", value: { text: "first" } });
      await mayFinish;
      it.stop(StopReason.COMPLETED, { text: "first" });
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await hlvm.shows("first");
    finish();
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toBe("first\n");
  });

  it("tells which step denied a tool, and still ends with 0 where the model answered", async () => {
    const edge = await edgeWith(async (it) => {
      it.append({ case: "toolSelected", value: { callId: "c1", tool: "write_file", argumentsJson: '{"path":"hello.txt"}' } });
      it.append({
        case: "permissionCheck",
        value: {
          callId: "c1",
          tool: "write_file",
          decision: Decision.DENY,
          step: DecidingStep.MODE,
          rule: "dontAsk: L1",
          reason: "Nobody can be asked.",
        },
      });
      it.append({ case: "toolEnd", value: { callId: "c1", tool: "write_file", result: { success: false, content: "denied" } } });
      await answers(it);
    });
    const hlvm = runHlvm(["ask", "-p", "create hello.txt"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stderr).toBe('✗ write_file {"path":"hello.txt"} · denied (mode, dontAsk: L1): Nobody can be asked.\n');
    expect(edge.requests[0]!.settings!.mode).toBe(PermissionMode.DONT_ASK);
  });

  it("warns of a tool that there is none of, and asks on", async () => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--disallowedTools", "shel_exec,write_file", "--disallowedTools", "git_*", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stderr).toBe("No tool that comes with HLVM fits shel_exec.\n");
    expect(edge.requests[0]!.settings!.disallowedTools).toEqual(["shel_exec", "write_file", "git_*"]);
  });

  it("ends with 1, the message and what to do when the run fails", async () => {
    const edge = await edgeWith(async (it) =>
      it.stop(StopReason.ERROR, { message: "The key is refused.", advice: "Set ANTHROPIC_API_KEY." }),
    );
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stdout).toBe("");
    expect(hlvm.stderr).toBe("The key is refused.\nWhat to do: Set ANTHROPIC_API_KEY.\n");
  });

  it("goes on where it was when the connection breaks, without a word twice", async () => {
    const edge = await edgeWith(answers);
    edge.cutAfter = 2;
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toBe("It says hello.\n");
    expect(edge.watches.map((watch) => watch.fromSequence)).toEqual([1n, 3n]);
  });

  it("takes the model from HLVM_MODEL where none is given, and not when it resumes", async () => {
    const edge = await edgeWith(answers);
    const environment = { HLVM_MODEL: "llama/tiny" };
    await runHlvm(["ask", "q"], { edgeUrl: edge.url, environment }).ended;
    await runHlvm(["ask", "--model", "demo/demo", "q"], { edgeUrl: edge.url, environment }).ended;
    await runHlvm(["ask", "--resume", edge.sessionId, "q"], { edgeUrl: edge.url, environment }).ended;
    expect(edge.requests.map((request) => request.model)).toEqual(["llama/tiny", "demo/demo", ""]);
    expect(edge.requests[2]).toMatchObject({ sessionId: edge.sessionId, workspace: "" });
  });
});

describe("hlvm ask, for programs", () => {
  it("writes nothing but NDJSON with --json, and a final last", async () => {
    const edge = await edgeWith(async (it) => {
      it.append({ case: "thinking", value: {} });
      await answers(it);
    });
    const hlvm = runHlvm(["ask", "--json", "--verbose", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    const lines = jsonLines(hlvm.stdout);
    expect(lines.map((line) => line.type)).toEqual(["agent_event", "agent_event", "token", "token", "agent_event", "final"]);
    expect(lines.at(-1)).toMatchObject({ stop_reason: "completed", text: "It says hello.", session_id: edge.sessionId });
    expect(edge.requests[0]!.settings!.canAsk).toBe(false);
  });

  it("writes one object with --output-format json", async () => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--output-format", "json", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(jsonLines(hlvm.stdout)).toEqual([expect.objectContaining({ type: "final", model: "scripted/one", text: "It says hello." })]);
  });

  it.each([
    ["a workspace that does not exist", ["--workspace", "/does/not/exist"], "/does/not/exist does not exist", 1],
    ["an attachment that does not exist", ["--attach", "missing.txt"], "missing.txt cannot be attached", 1],
    ["flags that contradict each other", ["--auto-edit", "--permission-mode", "plan"], "different permission modes", 2],
    ["an unknown flag", ["--jsno"], "unknown option '--jsno'", 2],
  ])("ends with a final for %s", async (_, flags, message, exitCode) => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--json", ...flags, "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(exitCode);
    const lines = jsonLines(hlvm.stdout);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ type: "final", stop_reason: "error", message: expect.stringContaining(message) });
    expect(lines[0]!.advice).not.toBe("");
    expect(edge.requests).toEqual([]);
  });

  it("ends with a final where nobody answers at the edge's address", async () => {
    const edge = await edgeWith(answers);
    await edge.close();
    const hlvm = runHlvm(["ask", "--json", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(1);
    expect(jsonLines(hlvm.stdout)[0]).toMatchObject({
      type: "final",
      message: expect.stringContaining(`The edge at ${edge.url} does not answer`),
    });
  });
});

describe("hlvm ask, called wrongly", () => {
  it.each([
    [["ask", "--permision-mode", "plan", "q"], "Did you mean --permission-mode?"],
    [["ask", "--permission-mode", "yolo", "q"], "Allowed choices are"],
    [["ask", "--allowedTools", "Bash", "q"], 'Bash" is not a tool'],
    [["ask", "--resume", "yesterday", "q"], "hlvm session list"],
    [["ask", "--json", "--output-format", "text", "q"], "cannot be used with"],
    [["ask", "  "], "The question is empty."],
    [["ask"], "missing required argument 'question'"],
    [["aks", "q"], "Did you mean ask?"],
    [["audit", "query", "--since", "yesterday"], "30m, 1h, 7d"],
  ])("says so: %j", async (words, hint) => {
    const hlvm = runHlvm(words);
    expect(await hlvm.ended).toBe(2);
    expect(hlvm.stderr).toContain(hint);
    expect(hlvm.stderr).not.toMatch(/\n\s+at /);
  });

  it("refuses attachments that are not text, and what is too large, with what to do", async () => {
    writeFileSync(join(folder, "binary"), Buffer.from([0x66, 0xff, 0x00]));
    writeFileSync(join(folder, "large"), "x".repeat(2 * 1024 * 1024 + 1));
    const binary = runHlvm(["ask", "--attach", "binary", "q"], { workingDirectory: folder });
    const large = runHlvm(["ask", "--attach", "large", "q"], { workingDirectory: folder });
    expect(await binary.ended).toBe(1);
    expect(binary.stderr).toMatch(/^binary is not text in UTF-8\.\nWhat to do: /);
    expect(await large.ended).toBe(1);
    expect(large.stderr).toMatch(/^large is larger than 2 MB\.\nWhat to do: /);
  });

  it("refuses to attach what is no regular file, without waiting for it", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const path of ["pipe", "/dev/zero", "."]) {
      const hlvm = runHlvm(["ask", "--attach", path, "q"], { workingDirectory: folder });
      expect(await hlvm.ended).toBe(1);
      expect(hlvm.stderr).toContain(`${path} cannot be attached: it is not a regular file.\nWhat to do: `);
    }
  });

  it("refuses a workspace that it may not read", async () => {
    chmodSync(folder, 0o000);
    const hlvm = runHlvm(["ask", "--workspace", folder, "q"], { obeysModes: true });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stderr).toContain(`The workspace ${folder} cannot be read: EACCES`);
    chmodSync(folder, 0o700);
  });
});

describe("hlvm ask, stopped", () => {
  it("cancels the run on Ctrl-C, waits for its end, and ends with 130", async () => {
    const edge = await edgeWith(async (it) => {
      const cancelled = it.until("cancelled");
      it.append({ case: "messageDelta", value: { text: "working" } });
      await cancelled;
      it.stop(StopReason.USER_CANCELLED);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(hlvm.stdout).toBe("working\n");
    expect(hlvm.stderr).toBe("cancelled\n");
  });

  it("ends at once on a second Ctrl-C", async () => {
    const edge = await edgeWith(async (it) => it.append({ case: "messageDelta", value: { text: "working" } }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    const cancelled = edge.until("cancelled");
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    await cancelled;
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
  });

  it("gives up after two seconds where the run does not end, with a final", async () => {
    const edge = await edgeWith(async (it) => it.append({ case: "messageDelta", value: { text: "working" } }));
    const hlvm = runHlvm(["ask", "--json", "q"], { edgeUrl: edge.url });
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(jsonLines(hlvm.stdout).at(-1)).toMatchObject({ type: "final", stop_reason: "user_cancelled" });
  });

  it("cancels the run and is silent when the reader of its output goes away", async () => {
    const edge = await edgeWith(async (it) => {
      const stopped = new AbortController();
      const cancelled = it.until("cancelled").then(() => stopped.abort());
      it.append({ case: "messageDelta", value: { text: "line\n" } });
      await it.until("watched");
      while (!stopped.signal.aborted) {
        it.append({ case: "messageDelta", value: { text: "line\n" } });
        await Promise.race([cancelled, delay(10)]);
      }
      it.stop(StopReason.USER_CANCELLED);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await hlvm.shows("line");
    hlvm.child.stdout!.destroy();
    expect(await hlvm.ended).toBe(141);
    expect(hlvm.stderr).toBe("");
  });
});

describe("hlvm ask on a terminal", () => {
  const asks =
    (tool: string, argumentsJson: string): Script =>
    async (it) => {
      const answered = it.until("answered");
      it.append({
        case: "permissionCheck",
        value: {
          callId: "c1",
          tool,
          decision: Decision.ASK,
          step: DecidingStep.MODE,
          approval: {
            approvalId: "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e",
            tool,
            argumentsJson,
            safetyLevel: SafetyLevel.L2,
            reason: "mode default asks for L2",
            state: ApprovalState.PENDING,
          },
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
    const edge = await edgeWith(asks("shell_exec", JSON.stringify({ command: "printf '\u001b[2Jgone\u202e'" })));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write(key);
    expect(await hlvm.ended).toBe(0);
    expect(edge.requests[0]!.settings!.canAsk).toBe(true);
    expect(edge.answers.map((given) => given.answer)).toEqual([answer]);
    expect(hlvm.stdout).toContain("shell_exec (L2) has to be approved: mode default asks for L2");
    expect(hlvm.stdout).toContain("$ printf '␛[2Jgone<U+202E>'");
    expect(hlvm.stdout).toContain("It says hello.");
  });

  it("does not take what was typed ahead for an answer", async () => {
    let askNow = (): void => {};
    const mayAsk = new Promise<void>((resolve) => (askNow = resolve));
    const edge = await edgeWith(async (it) => {
      it.append({ case: "messageDelta", value: { text: "working" } });
      await mayAsk;
      await asks("shell_exec", JSON.stringify({ command: "ls" }))(it);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("working");
    hlvm.child.stdin!.write("y");
    // The terminal itself shows what it has taken in.
    await hlvm.shows("workingy");
    askNow();
    await hlvm.shows("y / n / a");
    hlvm.child.stdin!.write("n");
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers.map((given) => given.answer)).toEqual([ApprovalAnswer.DENY]);
  });

  it("withdraws the question when somebody else answers it", async () => {
    const edge = await edgeWith(asks("write_file", JSON.stringify({ path: "a.txt", content: "one\ntwo" })));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    await hlvm.shows("y / n / a");
    edge.answeredElsewhere();
    expect(await hlvm.ended).toBe(0);
    expect(edge.answers).toEqual([]);
    expect(hlvm.stdout).toContain("write a.txt (7 characters)");
    expect(hlvm.stdout).toContain("+ two");
    expect(hlvm.stdout).toContain("The question is closed");
  });

  it("shows nothing to a terminal that would make it act", async () => {
    const edge = await edgeWith(async (it) => it.stop(StopReason.COMPLETED, { text: "a\u001b]52;c;cm0gLXJm\u0007b\u009b31m\u202ec" }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toContain("a␛]52;c;cm0gLXJm␇b<U+009B>31m<U+202E>c");
  });
});
