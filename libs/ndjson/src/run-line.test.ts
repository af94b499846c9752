import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ApprovalState, DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SafetyLevel, ToolOutput_Stream } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { runLine, type AgentEventLine } from "./run-line.ts";

function event(payload: NonNullable<MessageInitShape<typeof EventSchema>["payload"]>): Event {
  return create(EventSchema, {
    sessionId: "session",
    sequence: 7n,
    runId: "run",
    turn: 2,
    principal: "user:ada",
    at: timestampFromDate(new Date("2026-11-21T10:00:00.250Z")),
    payload,
  });
}

function agentEvent(payload: Parameters<typeof event>[0]): AgentEventLine["event"] {
  const line = runLine(event(payload));
  if (line?.type !== "agent_event") throw new Error(`not an agent_event: ${JSON.stringify(line)}`);
  return JSON.parse(JSON.stringify(line.event)) as AgentEventLine["event"];
}

describe("runLine", () => {
  it("gives the answer's text as a token and nothing more", () => {
    expect(runLine(event({ case: "messageDelta", value: { text: "Hello" } }))).toEqual({ type: "token", text: "Hello" });
  });

  it("gives the end of a run as the final line, with 64-bit counts as JSON numbers", () => {
    const line = runLine(
      event({
        case: "runStopped",
        value: {
          reason: StopReason.MAX_TURNS_REACHED,
          text: "so far",
          message: "20 turns",
          advice: "Ask for less.",
          turns: 20,
          toolCalls: 31,
          usage: { inputTokens: 5_000_000_000n, outputTokens: 12n, cacheReadTokens: 3n },
          durationMilliseconds: 1234,
        },
      }),
    );
    expect(JSON.parse(JSON.stringify(line))).toEqual({
      type: "final",
      session_id: "session",
      run_id: "run",
      stop_reason: "max_turns_reached",
      text: "so far",
      message: "20 turns",
      advice: "Ask for less.",
      turns: 20,
      tool_calls: 31,
      usage: { input_tokens: 5_000_000_000, output_tokens: 12, cache_read_tokens: 3, cache_write_tokens: 0, reasoning_tokens: 0 },
      duration_ms: 1234,
      cost: { nano_dollars: 0, unpriced_calls: 0 },
    });
  });

  it("puts the same head on every agent event", () => {
    expect(runLine(event({ case: "thinking", value: {} }))).toEqual({
      type: "agent_event",
      event: {
        type: "thinking",
        sequence: 7,
        session_id: "session",
        run_id: "run",
        iteration: 2,
        principal: "user:ada",
        at: "2026-11-21T10:00:00.250Z",
      },
    });
  });

  it("names the fields of the first specification, in snake_case", () => {
    expect(agentEvent({ case: "reasoningUpdate", value: { text: "hm" } })).toMatchObject({
      type: "reasoning_update",
      iteration: 2,
      summary: "hm",
    });
    expect(
      agentEvent({
        case: "toolStart",
        value: { callId: "c1", tool: "read_file", argumentsJson: "{}", argumentsSummary: "README.md", toolIndex: 1, toolTotal: 2 },
      }),
    ).toMatchObject({
      type: "tool_start",
      call_id: "c1",
      name: "read_file",
      args_summary: "README.md",
      arguments_json: "{}",
      tool_index: 1,
      tool_total: 2,
    });
    const result = { success: true, content: "hi", summary: "1 line", durationMilliseconds: 3, resultBytes: 2n, exitCode: 0 };
    expect(agentEvent({ case: "toolEnd", value: { callId: "c1", tool: "read_file", result } })).toMatchObject({
      type: "tool_end",
      name: "read_file",
      success: true,
      content: "hi",
      duration_ms: 3,
      result_bytes: 2,
      exit_code: 0,
    });
    expect(
      agentEvent({ case: "turnStats", value: { toolCount: 2, durationMilliseconds: 40, inputTokens: 9n, outputTokens: 4n } }),
    ).toMatchObject({ type: "turn_stats", iteration: 2, tool_count: 2, duration_ms: 40, input_tokens: 9, output_tokens: 4 });
    expect(agentEvent({ case: "memoryActivity", value: { recalled: ["a"], written: ["b"], notice: "" } })).toMatchObject({
      type: "memory_activity",
      recalled: ["a"],
      written: ["b"],
    });
  });

  it("says by which step a call was denied, and what is asked", () => {
    expect(
      agentEvent({
        case: "permissionCheck",
        value: {
          callId: "c1",
          tool: "write_file",
          decision: Decision.DENY,
          step: DecidingStep.MODE,
          rule: "dontAsk: L1",
          reason: "Nobody.",
        },
      }),
    ).toMatchObject({
      type: "permission_check",
      name: "write_file",
      decision: "deny",
      step: "mode",
      rule: "dontAsk: L1",
      reason: "Nobody.",
    });
    expect(
      agentEvent({
        case: "permissionCheck",
        value: {
          decision: Decision.ASK,
          step: DecidingStep.COMMAND_SAFETY,
          approval: { approvalId: "a1", argumentsJson: "{}", safetyLevel: SafetyLevel.L2, state: ApprovalState.PENDING },
        },
      }),
    ).toMatchObject({ decision: "ask", step: "command_safety", approval: { approval_id: "a1", safety_level: "L2", state: "pending" } });
  });

  it("carries what the other events hold", () => {
    expect(agentEvent({ case: "userMessage", value: { text: "hi", attachments: [{ path: "a.txt", text: "four" }] } })).toMatchObject({
      type: "user_message",
      text: "hi",
      attachments: [{ path: "a.txt", characters: 4 }],
    });
    expect(
      agentEvent({
        case: "runStarted",
        value: { model: "demo/demo", workspace: "/w", settings: { mode: PermissionMode.ACCEPT_EDITS, allowedTools: ["git_*"] } },
      }),
    ).toMatchObject({ type: "run_started", model: "demo/demo", permission_mode: "acceptEdits", allowed_tools: ["git_*"], can_ask: false });
    expect(
      agentEvent({
        case: "assistantMessage",
        value: {
          text: "t",
          thinking: [{ text: "th" }],
          toolCalls: [{ id: "1", tool: "git_log", argumentsJson: "{}" }],
          finish: { reason: FinishReason.TOOL_CALLS },
        },
      }),
    ).toMatchObject({ thinking: ["th"], tool_calls: [{ id: "1", name: "git_log", arguments_json: "{}" }], finish_reason: "tool_calls" });
    expect(agentEvent({ case: "toolSelected", value: { tool: "git_log", toolIndex: 1, toolTotal: 3 } })).toMatchObject({
      tool_index: 1,
      tool_total: 3,
    });
    expect(
      agentEvent({ case: "toolOutput", value: { callId: "c", output: { stream: ToolOutput_Stream.STDERR, text: "x" } } }),
    ).toMatchObject({
      stream: "stderr",
      text: "x",
    });
    expect(agentEvent({ case: "toolWaiting", value: { callId: "c", tool: "git_log", position: 2 } })).toMatchObject({
      call_id: "c",
      name: "git_log",
      position: 2,
    });
    expect(agentEvent({ case: "usageUpdate", value: { usage: { inputTokens: 1n, outputTokens: 2n } } })).toMatchObject({
      input_tokens: 1,
      output_tokens: 2,
    });
  });

  it("has no line for a kind of event that it does not know", () => {
    expect(runLine(event({ case: undefined }))).toBeUndefined();
  });
});
