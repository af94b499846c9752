import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { BackgroundProcessSchema, type ListProcessesRequest, type StopProcessRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { BackgroundProcess } from "../domain/background-processes.ts";
import type { Owner } from "../domain/receipts.ts";
import type { Sessions } from "../domain/sessions.ts";

export async function listProcesses(sessions: Sessions, owner: Owner, { sessionId }: ListProcessesRequest) {
  const session = await sessions.find(owner, sessionId);
  return { processes: session?.sandbox.processes.list().map(message) ?? [] };
}

export async function stopProcess(sessions: Sessions, owner: Owner, { sessionId, processId }: StopProcessRequest) {
  const session = await sessions.find(owner, sessionId);
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
