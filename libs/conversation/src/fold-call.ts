import type { Event, ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "./conversation.ts";
import type { Base, CallState, ToolCallView, ToolsItem } from "./item.ts";

type CallPayload = Extract<Event["payload"], { case: "toolSelected" | "toolStart" | "toolOutput" | "toolWaiting" | "toolEnd" }>;

/** So much of what a call printed an item holds; the log has all of it. */
const OUTPUT_CHARACTERS = 64 * 1024;
/** It is cut only where it is longer than this, so that not every piece of a long output copies all that is kept. */
const LONGEST_OUTPUT = 80 * 1024;
const CALLS_OF_GROUP = 100;

/** Folds what happens to one call: into the group of its neighbours, or into a new one. */
export function foldCall(conversation: Conversation, base: Base, payload: CallPayload): void {
  const { callId } = payload.value;
  const tool = payload.case === "toolOutput" ? "" : payload.value.tool;
  changeCall(conversation, callId, (call) => changed(call, payload), { base, tool });
}

/** @param begun where the call is new; without it one that is not there is let be */
export function changeCall(
  conversation: Conversation,
  callId: string,
  changed: (call: ToolCallView) => Partial<ToolCallView>,
  begun?: { readonly base: Base; readonly tool: string },
): void {
  const isOfCall = ({ calls }: ToolsItem): boolean => calls.some((call) => call.callId === callId);
  const isChanged = conversation.change("tools", isOfCall, ({ calls }) => ({
    calls: calls.map((call) => (call.callId === callId ? { ...call, ...changed(call) } : call)),
  }));
  if (isChanged || begun === undefined) return;
  const { base, tool } = begun;
  const empty = newCall(callId, tool);
  const call = { ...empty, ...changed(empty) };
  const last = conversation.items.at(-1);
  const isNeighbour = ({ key, calls }: ToolsItem): boolean => key === last?.key && calls.length < CALLS_OF_GROUP;
  if (
    last?.runId === base.runId &&
    last.turn === base.turn &&
    conversation.change("tools", isNeighbour, ({ calls }) => ({ calls: [...calls, call] }))
  )
    return;
  conversation.push({ ...base, kind: "tools", calls: [call] });
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
    deniedBy: "",
    exitCode: undefined,
    durationMilliseconds: undefined,
    resultBytes: 0,
    isShortened: false,
    isReplayed: false,
    queuePosition: 0,
  };
}

function changed(call: ToolCallView, payload: CallPayload): Partial<ToolCallView> {
  switch (payload.case) {
    case "toolSelected":
      return { argumentsJson: payload.value.argumentsJson };
    case "toolWaiting":
      return { state: "waiting", queuePosition: payload.value.position };
    case "toolStart": {
      const { argumentsJson, argumentsSummary } = payload.value;
      return { state: "running", queuePosition: 0, argumentsJson, summary: argumentsSummary };
    }
    case "toolOutput":
      return endOf(call.output + (payload.value.output?.text ?? ""), call.omittedCharacters);
    case "toolEnd":
      return ended(call, payload.value);
  }
}

function ended(call: ToolCallView, { result, servedFromSequence }: ToolEnd): Partial<ToolCallView> {
  const {
    content = "",
    summary = "",
    errorCode = "",
    exitCode,
    durationMilliseconds = 0,
    resultBytes = 0n,
    truncated = false,
  } = result ?? {};
  const state: CallState = result?.success === true ? "succeeded" : call.state === "denied" ? "denied" : "failed";
  return {
    ...endOf(content, 0),
    state,
    outcome: state === "denied" && call.outcome !== "" ? call.outcome : summary || errorCode,
    exitCode,
    durationMilliseconds,
    resultBytes: Number(resultBytes),
    isShortened: truncated,
    isReplayed: servedFromSequence > 0n,
    queuePosition: 0,
  };
}

function endOf(text: string, omittedBefore: number): Pick<ToolCallView, "output" | "omittedCharacters"> {
  if (text.length <= LONGEST_OUTPUT) return { output: text, omittedCharacters: omittedBefore };
  const omitted = text.length - OUTPUT_CHARACTERS;
  return { output: text.slice(omitted).toWellFormed(), omittedCharacters: omittedBefore + omitted };
}
