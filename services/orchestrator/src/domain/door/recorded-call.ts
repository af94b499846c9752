import type { DoorPorts } from "./call-model.ts";
import { CallRecord, endedBy, type DoorCaller } from "./call-record.ts";

/**
 * A call that is answered at once and whole: settled and on record before it is.
 * @param name of the model, as it was asked for @param gone aborted where the program is
 */
export async function recordedCall<T>(
  caller: DoorCaller,
  name: string,
  ports: DoorPorts,
  gone: AbortSignal,
  call: (record: CallRecord, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const record = new CallRecord(caller, ports);
  try {
    const answer = await call(record, AbortSignal.any([gone, AbortSignal.timeout(ports.limits.modelMilliseconds)]));
    await record.end(name, undefined, gone.aborted);
    return answer;
  } catch (thrown) {
    const error = endedBy(thrown);
    await record.end(name, error, gone.aborted).catch((cause: unknown) => ports.log.error({ err: cause }, "a model call was not settled"));
    throw error;
  }
}
