import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { execute, type Executing } from "./execute.ts";

type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;

/** The tool calls of a run. */
export function streamCalls(executing: Executing, requests: AsyncIterable<StreamCallsRequest>, context: HandlerContext) {
  async function* answer(request: StreamCallsRequest["request"], callContext: HandlerContext): AsyncGenerator<Response, void> {
    if (request.case !== "execute") return;
    for await (const value of execute(executing, request.value, callContext)) yield { case: "execute", value };
  }
  return answerCalls(requests, context, { answer, isLast, joins: true });
}

function isLast({ value }: Response): boolean {
  return value !== undefined && "event" in value && value.event?.case === "result";
}
