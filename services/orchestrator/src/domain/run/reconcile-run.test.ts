import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ToolResultSchema, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { describe, expect, it } from "vitest";
import type { Outcome, Receipt } from "../loop/ports.ts";
import { reconcileRun, type ReconcilePorts } from "./reconcile-run.ts";

const run = { sessionId: "s", workspaceSessionId: "s", runId: "r", attempts: 0 };
const signal = new AbortController().signal;
const done = (result: MessageInitShape<typeof ToolResultSchema>): Receipt => ({ state: "done", result: create(ToolResultSchema, result) });

function said(...tools: readonly string[]): Event {
  const toolCalls = tools.map((tool, index) => ({ id: `p${index}`, tool, argumentsJson: "{}" }));
  return create(EventSchema, { runId: "r", turn: 1, payload: { case: "assistantMessage", value: { toolCalls } } });
}

function ended(callId: string, result: Partial<Omit<ToolResult, "$typeName">>): Event {
  return create(EventSchema, { runId: "r", turn: 1, payload: { case: "toolEnd", value: { callId, result } } });
}

/** Policy that allowed the calls named, and a sandbox with these receipts. */
function services(allowed: readonly string[], receipts: Readonly<Record<string, Receipt | HlvmError>> = {}) {
  const recorded = new Map<string, Outcome>();
  const ports: ReconcilePorts = {
    audit: {
      recordOutcome: async (outcome) => {
        if (!allowed.includes(outcome.callId)) throw failure("not_found", "intent_not_found");
        if (recorded.has(outcome.callId)) throw failure("already_exists", "outcome_already_recorded");
        recorded.set(outcome.callId, outcome);
      },
    },
    sandbox: {
      receipt: async (_, callId) => {
        const receipt = receipts[callId] ?? { state: "never_started" };
        if (receipt instanceof HlvmError) throw receipt;
        return receipt;
      },
    },
  };
  return { ports, recorded };
}

function failure(code: HlvmError["code"], reason: string): HlvmError {
  return new HlvmError({ code, reason, message: reason });
}

describe("reconcileRun", () => {
  it("takes what the log says, then what the receipt says, and else says that it is not known", async () => {
    const events = [
      said("write_file", "shell_exec", "shell_exec", "shell_exec", "memory_write", "shell_exec"),
      ended("r.1.1", { success: true, summary: "written", durationMilliseconds: 7 }),
      ended("r.1.6", { errorCode: "outcome_unknown", summary: "the sandbox did not answer" }),
    ];
    const { ports, recorded } = services(["r.1.1", "r.1.2", "r.1.3", "r.1.4", "r.1.5", "r.1.6"], {
      "r.1.2": done({ success: false, errorCode: "timeout", summary: "60 s", durationMilliseconds: 60_000 }),
      "r.1.3": { state: "unknown" },
      "r.1.6": done({ success: true, summary: "it ran" }),
    });
    expect(await reconcileRun(run, events, ports, signal)).toBe(true);
    expect([...recorded.values()]).toMatchObject([
      { callId: "r.1.1", status: OutcomeStatus.SUCCEEDED, summary: "written", durationMilliseconds: 7 },
      { callId: "r.1.2", status: OutcomeStatus.TIMED_OUT, summary: "60 s", durationMilliseconds: 60_000 },
      { callId: "r.1.3", status: OutcomeStatus.UNKNOWN, summary: expect.stringContaining("not known whether it took effect") },
      { callId: "r.1.4", status: OutcomeStatus.CANCELLED, summary: "The run ended before this call ran." },
      { callId: "r.1.5", status: OutcomeStatus.UNKNOWN },
      { callId: "r.1.6", status: OutcomeStatus.SUCCEEDED, summary: "it ran" },
    ]);
  });

  it("does the same thing twice without a difference, and nothing about calls that were never allowed", async () => {
    const events = [said("write_file", "write_file"), ended("r.1.1", { success: true })];
    const { ports, recorded } = services(["r.1.1"]);
    expect(await reconcileRun(run, events, ports, signal)).toBe(true);
    expect(await reconcileRun(run, events, ports, signal)).toBe(true);
    expect([...recorded.keys()]).toEqual(["r.1.1"]);
  });

  it("closes the call that asked to keep what a call changed", async () => {
    const { ports, recorded } = services(["r.1.1", "r.1.1.keep"], {
      "r.1.1": done({ success: true }),
      "r.1.1.keep": done({ success: true }),
    });
    expect(await reconcileRun(run, [said("shell_exec")], ports, signal)).toBe(true);
    expect([...recorded.keys()]).toEqual(["r.1.1", "r.1.1.keep"]);
  });

  it.each<[string, Receipt | HlvmError]>([
    ["does not answer", failure("unavailable", "connection_lost")],
    ["says that the call runs", { state: "running" }],
  ])("asks again later where the sandbox %s, and in the end says that it is not known", async (_, receipt) => {
    const { ports, recorded } = services(["r.1.1"], { "r.1.1": receipt, "r.1.1.keep": receipt });
    expect(await reconcileRun(run, [said("shell_exec")], ports, signal)).toBe(false);
    expect([...recorded]).toEqual([]);
    expect(await reconcileRun({ ...run, attempts: 15 }, [said("shell_exec")], ports, signal)).toBe(true);
    expect(recorded.get("r.1.1")).toMatchObject({ status: OutcomeStatus.UNKNOWN });
  });

  it("is not done while policy cannot be reached", async () => {
    const { ports } = services([]);
    const audit = { recordOutcome: () => Promise.reject(failure("unavailable", "database_unreachable")) };
    expect(await reconcileRun(run, [said("read_file")], { ...ports, audit }, signal)).toBe(false);
  });
});
