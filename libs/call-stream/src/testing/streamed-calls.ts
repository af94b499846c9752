import { create } from "@bufbuild/protobuf";
import { ExecuteRequestSchema, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { CallStream } from "../call-stream.ts";
import type { CallLimits } from "../open-stream.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const HASH = "a".repeat(64);

export type Calls = CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

export function requestOf(callId: string): StreamCallsRequest["request"] {
  const call = { sessionId: ID, runId: ID, callId, tool: "shell_exec", argumentsJson: "{}", definitionHash: HASH };
  return { case: "execute", value: create(ExecuteRequestSchema, { call, grant: "x" }) };
}

export const isLast = (response: StreamCallsResponse["response"]): boolean =>
  response.case === "execute" && response.value.event.case === "result";

/** What a call answers: its output, and its result. */
export async function all(calls: Pick<Calls, "call">, callId: string, limits: Partial<CallLimits>): Promise<string[]> {
  const found: string[] = [];
  for await (const response of calls.call(requestOf(callId), { token: "", timeoutMilliseconds: 5_000, ...limits }, isLast)) {
    const { event } = response.value as { event: { case: string; value: { text?: string; content?: string } } };
    found.push(event.value.text ?? event.value.content!);
  }
  return found;
}
