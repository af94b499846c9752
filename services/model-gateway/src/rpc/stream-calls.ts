import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse, StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";

type Generate = (request: GenerateRequest, context: HandlerContext) => AsyncIterable<GenerateResponse>;
type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;

/** What a run asks of its model, turn by turn. */
export function streamCallsHandler(generate: Generate) {
  async function* answer(request: StreamCallsRequest["request"], context: HandlerContext): AsyncGenerator<Response, void> {
    if (request.case !== "generate") return;
    for await (const value of generate(request.value, context)) yield { case: "generate", value };
  }
  return (requests: AsyncIterable<StreamCallsRequest>, context: HandlerContext) => answerCalls(requests, context, { answer, isLast });
}

function isLast({ value }: Response): boolean {
  return value !== undefined && "event" in value && value.event?.case === "finish";
}
