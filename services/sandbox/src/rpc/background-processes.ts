import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { BackgroundProcessSchema, type ListProcessesRequest, type StopProcessRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { BackgroundProcess } from "../domain/background-processes.ts";
import type { Sessions } from "../domain/sessions.ts";

export async function listProcesses(sessions: Sessions, { sessionId }: ListProcessesRequest, context: HandlerContext) {
  const session = await sessions.find(callContext(context).principal, sessionId);
  return { processes: session?.sandbox.processes.list().map(message) ?? [] };
}

export async function stopProcess(sessions: Sessions, { sessionId, processId }: StopProcessRequest, context: HandlerContext) {
  const session = await sessions.find(callContext(context).principal, sessionId);
  const stopped = await session?.sandbox.processes.stop(processId);
  if (stopped !== undefined) return { process: message(stopped) };
  throw new HlvmError({
    code: "not_found",
    reason: "process_not_found",
    message: `The session ${sessionId} has no process ${processId} in the background.`,
    advice: "`hlvm session processes` lists those there are.",
  });
}

function message({ startedAt, end = "", ...process }: BackgroundProcess): MessageInitShape<typeof BackgroundProcessSchema> {
  return create(BackgroundProcessSchema, { ...process, end, startedAt: timestampFromDate(startedAt) });
}
