import { describe, expect, it } from "vitest";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

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
