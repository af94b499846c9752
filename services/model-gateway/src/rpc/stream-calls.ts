import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse, StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ResumableAnswers } from "./resumable-answers.ts";
import { answerCalls } from "@hlvm/call-stream/answer-calls";

type Generate = (request: GenerateRequest, context: HandlerContext) => AsyncIterable<GenerateResponse>;
type Resumable = Pick<ResumableAnswers, "generate" | "resume" | "hasRoom">;
type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;

/** What a run asks of its model, turn by turn. */
export function streamCallsHandler(generate: Generate, resumable: Resumable) {
  async function* answer(request: StreamCallsRequest["request"], context: HandlerContext): AsyncGenerator<Response, void> {
    for await (const value of responses(request, context)) yield { case: "generate", value };
  }
  async function* responses(request: StreamCallsRequest["request"], context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    if (request.case === "resume") yield* resumable.resume(request.value, context);
    if (request.case !== "generate") return;
    yield* request.value.resumable && resumable.hasRoom ? resumable.generate(request.value, context) : generate(request.value, context);
  }
  return (requests: AsyncIterable<StreamCallsRequest>, context: HandlerContext) => answerCalls(requests, context, { answer, isLast });
}

function isLast({ value }: Response): boolean {
  return value !== undefined && "event" in value && value.event?.case === "finish";
}
