import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOtlpReceiver, type OtlpReceiver } from "@hlvm/testing/otlp-receiver";
import type { ReceivedSpan } from "@hlvm/testing/otlp-messages";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line } from "./test-mesh.ts";

const PROMPT = "run echo planted-in-the-question";
const FILE = "planted-in-a-file";
const SECRET = `ghp_${"9aB3dE5fG7".repeat(4).slice(0, 36)}`;

let receiver: OtlpReceiver;
let lines: Line[];
let answer: string;
let audited: Line[];
let logs: string;
/** The spans of the question's trace. */
let spans: ReceivedSpan[];

const only = (name: string, among = spans): ReceivedSpan => {
  const found = among.filter((span) => span.name === name);
  if (found.length !== 1) throw new Error(`${found.length} spans are named ${name}, of: ${among.map((span) => span.name).join(", ")}`);
  return found[0]!;
};
const parentOf = (span: ReceivedSpan): ReceivedSpan | undefined => spans.find(({ spanId }) => spanId === span.parentId);
/** A span's place: its name and service, and those above it, up to where the trace begins. */
const pathOf = (span: ReceivedSpan | undefined): string[] =>
  span === undefined ? [] : [`${span.service} ${span.name}`, ...pathOf(parentOf(span))];

/** One question to a mesh of its own, which sends what is left when it ends. */
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const mesh = await startTestMesh({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  });
  const workspace = await createWorkspace({ "notes.txt": FILE });
  const flags = ["--json", "--permission-mode", "bypassPermissions"];
  const asked = await mesh.hlvm(["ask", ...flags, `${PROMPT}; cat notes.txt; echo ${SECRET}`], { cwd: workspace });
  lines = linesOf(asked);
  answer = asked.stdout;
  audited = linesOf(await mesh.hlvm(["audit", "query", "--json", "--since", "1h"]));
  const orchestrator = mesh.state.services.find(({ name }) => name === "orchestrator")!;
  const { readFileSync } = await import("node:fs");
  logs = readFileSync(orchestrator.logFile, "utf8");
  await mesh.stop();
  rmSync(workspace, { recursive: true });
  const all = receiver.spans();
  const { traceId } = only("invoke_agent hlvm", all);
  spans = all.filter((span) => span.traceId === traceId);
});

afterAll(() => receiver.close());

describe("a question's trace", () => {
  it("goes from the CLI through the edge to the run, which outlives the call that started it", () => {
    const run = only("invoke_agent hlvm");
    expect(pathOf(run)).toEqual([
      "hlvm-orchestrator invoke_agent hlvm",
      "hlvm-orchestrator hlvm.session.v1.SessionService/StartRun",
      "hlvm-edge hlvm.session.v1.SessionService/StartRun",
      "hlvm-edge hlvm.session.v1.SessionService/StartRun",
      "hlvm-cli hlvm ask",
    ]);
    const start = parentOf(run)!;
    expect(run.startMilliseconds + run.durationMilliseconds).toBeGreaterThan(start.startMilliseconds + start.durationMilliseconds);
    const edge = parentOf(parentOf(start)!)!;
    expect(edge.kind).toBe(2);
    expect(parentOf(edge)!.attributes).toEqual({ "process.exit.code": "0" });
    expect(run.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": lines.at(-1)!.session_id,
      "hlvm.run.id": lines.at(-1)!.run_id,
      "hlvm.run.stop_reason": "completed",
      "hlvm.run.tool_calls": "1",
    });
  });

  it("has every hop below the run, each under the one that made it", () => {
    const tool = only("execute_tool shell_exec");
    expect(tool.attributes).toMatchObject({ "gen_ai.tool.name": "shell_exec", "hlvm.outcome": "succeeded" });
    expect(parentOf(tool)!.name).toBe("invoke_agent hlvm");
    const below = (service: string, method: string): ReceivedSpan =>
      spans.find((span) => span.service === service && span.kind === 2 && span.name === method)!;
    const execute = "hlvm.sandbox.v1.SandboxService/StreamCalls.execute";
    expect(pathOf(below("hlvm-sandbox", execute)).slice(0, 4)).toEqual([
      `hlvm-sandbox ${execute}`,
      `hlvm-orchestrator ${execute}`,
      "hlvm-orchestrator execute_tool shell_exec",
      "hlvm-orchestrator invoke_agent hlvm",
    ]);
    const decide = "hlvm.run.v1.RunPolicyService/StreamCalls.decide";
    expect(pathOf(only("hlvm.decide")).slice(0, 4)).toEqual([
      "hlvm-policy hlvm.decide",
      `hlvm-policy ${decide}`,
      `hlvm-orchestrator ${decide}`,
      "hlvm-orchestrator invoke_agent hlvm",
    ]);
    expect(only("hlvm.decide").attributes).toEqual({ "hlvm.decision": "allow", "hlvm.step": "mode" });
    const generate = "hlvm.model.v1.ModelService/StreamCalls.generate";
    for (const chat of spans.filter(({ name }) => name.startsWith("chat ")))
      expect(pathOf(chat).slice(1, 4)).toEqual([
        `hlvm-model-gateway ${generate}`,
        `hlvm-orchestrator ${generate}`,
        "hlvm-orchestrator invoke_agent hlvm",
      ]);
    expect(pathOf(below("hlvm-memory", "hlvm.memory.v1.MemoryService/Recall"))).toContain("hlvm-orchestrator invoke_agent hlvm");
    const appends = spans.filter(({ name }) => name === "hlvm.append");
    expect(appends.length).toBeGreaterThan(1);
    for (const append of appends) expect(parentOf(append)!.name).toBe("invoke_agent hlvm");
  });

  it("begins with the command, has no span that was not received, and none that failed", () => {
    const first = spans.filter((span) => parentOf(span) === undefined);
    expect(first).toEqual([expect.objectContaining({ service: "hlvm-cli", name: "hlvm ask" })]);
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
  });

  it("is the trace that the audit log and the log lines of the run name", () => {
    const [{ traceId }] = spans as [ReceivedSpan];
    expect(audited).toContainEqual(expect.objectContaining({ trace_id: traceId }));
    const ended = logs.split("\n").find((line) => line.includes('"msg":"run ended"'));
    expect(JSON.parse(ended!)).toMatchObject({ trace_id: traceId, span_id: only("invoke_agent hlvm").spanId });
  });
});

describe("metrics", () => {
  it("come from every service, with labels of bounded sets alone", () => {
    const metrics = receiver.metrics();
    const names = new Set(metrics.map(({ service, name }) => `${service} ${name}`));
    for (const name of [
      "hlvm-edge rpc.server.call.duration",
      "hlvm-orchestrator rpc.server.call.duration",
      "hlvm-orchestrator hlvm.runs.started",
      "hlvm-orchestrator hlvm.runs.ended",
      "hlvm-orchestrator hlvm.runs.active",
      "hlvm-orchestrator hlvm.turn.duration",
      "hlvm-orchestrator hlvm.append.duration",
      "hlvm-orchestrator hlvm.notify.lag",
      "hlvm-orchestrator gen_ai.invoke_agent.duration",
      "hlvm-orchestrator gen_ai.execute_tool.duration",
      "hlvm-model-gateway gen_ai.client.operation.duration",
      "hlvm-model-gateway gen_ai.client.token.usage",
      "hlvm-policy hlvm.decide.duration",
      "hlvm-sandbox hlvm.sandbox.open.duration",
      "hlvm-sandbox hlvm.sandbox.waiting",
      "hlvm-sandbox hlvm.sandbox.places",
      "hlvm-memory hlvm.eventloop.delay",
    ])
      expect(names).toContain(name);
    const labels = metrics.flatMap((metric) => metric.labels);
    expect(metrics.find(({ name }) => name === "hlvm.runs.ended")!.labels).toContainEqual({ reason: "completed" });
    const values = new Set(labels.flatMap((one) => Object.values(one)));
    expect([...values].filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}|user:/.test(value))).toEqual([]);
  });
});

describe("what is exported", () => {
  it("holds nothing of what was asked, run, found or answered", () => {
    // All of it went through the run, else this would show nothing.
    expect(eventsOf(lines, "tool_end")[0]!.content).toContain(FILE);
    expect(answer).toContain("planted-in-the-question");
    const bytes = receiver.bytes();
    expect(bytes.length).toBeGreaterThan(1_000);
    for (const planted of ["planted-in-the-question", FILE, SECRET, "notes.txt", "cat "]) expect(bytes.includes(planted)).toBe(false);
  });
});
