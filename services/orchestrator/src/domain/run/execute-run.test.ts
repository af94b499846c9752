import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService, type ExecuteToolRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Decision, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { refuse } from "../../testing/refuse.ts";
import type { SaidCall } from "../../testing/say.ts";
import { ada } from "../../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const write: SaidCall = { id: "write", tool: "memory_write", arguments: { text: "We deploy on Thursdays" } };
const shell: SaidCall = { id: "shell", tool: "shell_exec", arguments: { command: "make" } };
const test = useTestOrchestrator({ HLVM_SERVICE_WAIT_SECONDS: "1" });

describe("a run", () => {
  it("hands the trace of its caller on to every service", async () => {
    const { behaviour, seen } = test.fake;
    const traceId = "0123456789abcdef0123456789abcdef";
    const { headers } = await test.orchestrator.as(ada);
    const traced = { headers: { ...headers, traceparent: `00-${traceId}-0123456789abcdef-01` } };
    const request = { prompt: "q", workspace: "/work", settings: { mode: PermissionMode.DEFAULT, canAsk: true } };
    behaviour.model = undefined;
    await expect(test.orchestrator.client.startRun(test.asEdge(request), traced)).rejects.toThrow("named no model");

    behaviour.model = usualBehaviour.model;
    test.answers(["", [write, shell]], ["Done."]);
    behaviour.decide = (asked) =>
      asked.call!.tool === "shell_exec"
        ? { decision: Decision.ASK, approval: { approvalId: crypto.randomUUID() } }
        : usualBehaviour.decide(asked);
    behaviour.awaitApproval = async () => ({ decision: Decision.ALLOW, grant: "granted" });
    behaviour.execute = () => refuse(new HlvmError({ code: "unavailable", reason: "gone", message: "gone" }));
    const { sessionId, sequence } = await test.orchestrator.client.startRun(test.asEdge(request), traced);
    await test.watch(sessionId, sequence);

    const methods = {
      [ModelService.name]: ["ResolveModel", "Generate"],
      [PolicyService.name]: ["Decide", "AwaitApproval"],
      [AuditService.name]: ["RecordOutcome"],
      [SandboxService.name]: ["OpenWorkspace", "CloseWorkspace", "ReadInstructions", "Execute", "GetReceipt"],
      [MemoryService.name]: ["RegisterProject", "Recall", "ExecuteTool"],
    };
    const called = Object.entries(methods).flatMap(([service, names]) => names.map((name) => `${service}/${name}`));
    expect(seen.traces).toEqual(new Map(called.map((method) => [method, new Set([traceId])])));
  });

  it("has memory run its memory tools, with their grant and for its project, and shows what was written", async () => {
    const { behaviour, seen } = test.fake;
    const asked: ExecuteToolRequest[] = [];
    const search: SaidCall = { id: "search", tool: "memory_search", arguments: { query: "deploy" } };
    test.answers(["", [write, search]], ["Done."]);
    behaviour.executeMemory = (request) => {
      asked.push(request);
      return { success: true, content: `result of ${request.call!.tool}` };
    };
    const { sessionId, events } = await test.run();
    const byTool = Object.fromEntries(asked.map((request) => [request.call!.tool, request]));
    for (const [tool, argumentsJson] of [
      ["memory_write", '{"text":"We deploy on Thursdays"}'],
      ["memory_search", '{"query":"deploy"}'],
    ] as const)
      expect(byTool[tool]).toMatchObject({
        grant: `grant for ${byTool[tool]!.call!.callId}`,
        project: "project-of-work",
        call: { sessionId, argumentsJson },
      });
    expect(seen.executed).toEqual([]);
    expect(valuesOf(events, "toolEnd").map(({ result }) => result!.content)).toEqual(["result of memory_write", "result of memory_search"]);
    expect(valuesOf(events, "memoryActivity")).toMatchObject([{ written: ["We deploy on Thursdays"] }]);
  });

  it("says of a memory tool that failed that nothing was written", async () => {
    test.answers(["", [write]], ["Done."]);
    test.fake.behaviour.executeMemory = () => ({ success: false, content: "Too many facts.", errorCode: "unavailable" });
    const { events } = await test.run();
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { success: false } }]);
    expect(valuesOf(events, "memoryActivity")).toEqual([]);
  });
});
