import { describe, expect, it } from "vitest";
import { DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

describe("hlvm ask, as text", () => {
  it("writes the answer and nothing else to standard output, and ends with 0", async () => {
    const folder = temporaryFolder();
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

  it("warns of an allowed tool that there is none of, and asks on", async () => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--allowedTools", "shel_exec,write_file", "--disallowedTools", "git_*", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stderr).toBe("No tool that comes with HLVM fits shel_exec.\n");
    expect(edge.requests[0]!.settings).toMatchObject({ allowedTools: ["shel_exec", "write_file"], disallowedTools: ["git_*"] });
  });

  it("asks nothing where a denied tool is none of ours: nothing would be denied", async () => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--disallowedTools", "write_file,shel_exec", "q"], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(2);
    expect(hlvm.stderr).toMatch(/^--disallowedTools names shel_exec.*\nWhat to do: .*shell_exec/);
    expect(edge.requests).toEqual([]);
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
