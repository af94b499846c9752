import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse, StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ResumableAnswers } from "./resumable-answers.ts";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { mapped } from "./mapped.ts";

type Generate = (request: GenerateRequest, context: HandlerContext) => AsyncIterable<GenerateResponse>;
type Resumable = Pick<ResumableAnswers, "generate" | "resume" | "hasRoom">;
type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;

/** What a run asks of its model, turn by turn. */
export function streamCallsHandler(generate: Generate, resumable: Resumable) {
  function answer({ case: kind, value }: StreamCallsRequest["request"], context: HandlerContext): AsyncIterable<Response> {
    if (kind === "resume") return inCase(resumable.resume(value, context));
    if (kind !== "generate") return inCase(nothing());
    return inCase(value.resumable && resumable.hasRoom ? resumable.generate(value, context) : generate(value, context));
  }
  return (requests: AsyncIterable<StreamCallsRequest>, context: HandlerContext) =>
    answerCalls(requests, context, { answer, isLast, joins: true });
}

async function* nothing(): AsyncGenerator<never, void> {}

function inCase(values: AsyncIterable<GenerateResponse>): AsyncIterable<Response> {
  return mapped(
    () => Promise.resolve(values),
    (value) => ({ case: "generate", value }),
    (thrown) => thrown,
  );
}

function isLast({ value }: Response): boolean {
  return value !== undefined && "event" in value && value.event?.case === "finish";
}
