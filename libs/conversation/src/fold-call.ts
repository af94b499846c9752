import type { Event, ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "./conversation.ts";
import type { CallState, ToolCallView, ToolsItem } from "./item.ts";

type CallPayload = Extract<Event["payload"], { case: "toolSelected" | "toolStart" | "toolOutput" | "toolWaiting" | "toolEnd" }>;

/** So much of what a call printed an item holds; the log has all of it. */
const OUTPUT_CHARACTERS = 64 * 1024;

/** Folds what happens to one call: into the group of its neighbours, or into a new one. */
export function foldCall(conversation: Conversation, base: Omit<ToolsItem, "kind" | "calls">, payload: CallPayload): void {
  const { callId } = payload.value;
  if (
    conversation.change("tools", isOfCall(callId), ({ calls }) => ({
      calls: calls.map((call) => (call.callId === callId ? changed(call, payload) : call)),
    }))
  )
    return;
  const tool = payload.case === "toolOutput" ? "" : payload.value.tool;
  const call = changed(newCall(callId, tool), payload);
  const last = conversation.items.at(-1);
  const isNeighbour = last?.kind === "tools" && last.runId === base.runId && last.turn === base.turn;
  if (isNeighbour)
    conversation.change(
      "tools",
      (item) => item.key === last.key,
      ({ calls }) => ({ calls: [...calls, call] }),
    );
  else conversation.push({ ...base, kind: "tools", calls: [call] });
}

export function isOfCall(callId: string): (item: ToolsItem) => boolean {
  return ({ calls }) => calls.some((call) => call.callId === callId);
}

function newCall(callId: string, tool: string): ToolCallView {
  return {
    callId,
    tool,
    argumentsJson: "",
    summary: "",
    state: "chosen",
    output: "",
    omittedCharacters: 0,
    outcome: "",
    exitCode: undefined,
    durationMilliseconds: undefined,
    queuePosition: 0,
  };
}

function changed(call: ToolCallView, payload: CallPayload): ToolCallView {
  switch (payload.case) {
    case "toolSelected":
      return { ...call, argumentsJson: payload.value.argumentsJson };
    case "toolWaiting":
      return { ...call, state: "waiting", queuePosition: payload.value.position };
    case "toolStart": {
      const { argumentsJson, argumentsSummary } = payload.value;
      return { ...call, state: "running", queuePosition: 0, argumentsJson, summary: argumentsSummary };
    }
    case "toolOutput":
      return { ...call, ...endOf(call.output + (payload.value.output?.text ?? ""), call.omittedCharacters) };
    case "toolEnd":
      return ended(call, payload.value);
  }
}

function ended(call: ToolCallView, { result }: ToolEnd): ToolCallView {
  const { content = "", summary = "", errorCode = "", exitCode, durationMilliseconds } = result ?? {};
  const state: CallState = result?.success === true ? "succeeded" : call.state === "denied" ? "denied" : "failed";
  const outcome = state === "denied" && call.outcome !== "" ? call.outcome : summary || errorCode;
  return { ...call, ...endOf(content, 0), state, outcome, exitCode, durationMilliseconds, queuePosition: 0 };
}

function endOf(text: string, omittedBefore: number): Pick<ToolCallView, "output" | "omittedCharacters"> {
  const omitted = Math.max(0, text.length - OUTPUT_CHARACTERS);
  return { output: omitted === 0 ? text : text.slice(omitted).toWellFormed(), omittedCharacters: omittedBefore + omitted };
}
