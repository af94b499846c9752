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
  function responses(
    { case: kind, value }: StreamCallsRequest["request"],
    context: HandlerContext,
  ): AsyncIterable<GenerateResponse> | readonly GenerateResponse[] {
    if (kind === "resume") return resumable.resume(value, context);
    if (kind !== "generate") return [];
    return value.resumable && resumable.hasRoom ? resumable.generate(value, context) : generate(value, context);
  }
  async function* answer(request: StreamCallsRequest["request"], context: HandlerContext): AsyncGenerator<Response, void> {
    for await (const value of responses(request, context)) yield { case: "generate", value };
  }
  return (requests: AsyncIterable<StreamCallsRequest>, context: HandlerContext) =>
    answerCalls(requests, context, { answer, isLast, joins: true });
}

function isLast({ value }: Response): boolean {
  return value !== undefined && "event" in value && value.event?.case === "finish";
}
