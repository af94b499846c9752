import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { ExecuteRequest, ExecuteResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { ToolOutput_Stream } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ToolExecutor } from "../domain/tool-executor.ts";
import type { ToolEvent } from "../domain/tool-event.ts";
import { movedError } from "./moved-error.ts";
import { toolResultMessage } from "./tool-result-message.ts";
import type { WorkspaceOwner } from "./workspace-owner.ts";

const streams = { stdout: ToolOutput_Stream.STDOUT, stderr: ToolOutput_Stream.STDERR };

export interface Executing {
  readonly executor: ToolExecutor;
  readonly ownerOf: WorkspaceOwner;
}

export async function* execute(
  { executor, ownerOf }: Executing,
  request: ExecuteRequest,
  context: HandlerContext,
): AsyncGenerator<MessageInitShape<typeof ExecuteResponseSchema>> {
  const { principal, signal, remainingMilliseconds } = callContext(context);
  const { grant, timeoutMilliseconds, turn } = request;
  const owner = ownerOf(context, request.call!.sessionId, "drive");
  const call = { ...request.call!, owner, grant, timeoutMilliseconds, turn, remainingMilliseconds: remainingMilliseconds() };
  for await (const event of withMovedErrors(executor.execute(principal, call, signal))) {
    // The call comes to its end and gets its receipt without a reader; nothing is written to a stream that is gone.
    signal.throwIfAborted();
    if (event.kind === "output") {
      const { stream, text } = event.output;
      yield { event: { case: "output", value: { stream: streams[stream], text } } };
    } else if (event.kind === "waiting") yield { event: { case: "waiting", value: { position: event.position } } };
    else yield { event: { case: "result", value: toolResultMessage(event.result) } };
  }
}

async function* withMovedErrors(events: AsyncIterable<ToolEvent>): AsyncGenerator<ToolEvent, void> {
  try {
    yield* events;
  } catch (thrown) {
    throw movedError(thrown);
  }
}
