import type { MessageInitShape } from "@bufbuild/protobuf";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Behaviour } from "./usual-behaviour.ts";

type Result = MessageInitShape<typeof ToolResultSchema>;

/**
 * Has the sandbox run a call id once, as the real one does: a call that is asked for again is joined, or gives its result,
 * and one whose caller was lost goes on.
 * @param work what a call does, by its id and arguments
 * @returns the ids of the calls that ran, in their order
 */
export function runCallsOnce(behaviour: Behaviour, work: (callId: string, argumentsJson: string) => Promise<Result> | Result): string[] {
  const ran: string[] = [];
  const calls = new Map<string, { readonly result: Promise<Result>; done?: Result }>();
  behaviour.execute = async function* ({ call }) {
    const { callId, argumentsJson } = call!;
    if (!calls.has(callId)) {
      ran.push(callId);
      const one: { result: Promise<Result>; done?: Result } = { result: Promise.resolve(work(callId, argumentsJson)) };
      void one.result.then((result) => (one.done = result));
      calls.set(callId, one);
    }
    yield { event: { case: "output", value: { text: "begun\n" } } };
    yield { event: { case: "result", value: await calls.get(callId)!.result } };
  };
  behaviour.receipt = (callId) => {
    const known = calls.get(callId);
    if (known === undefined) return { state: State.NEVER_STARTED };
    return known.done === undefined ? { state: State.RUNNING } : { state: State.DONE, result: known.done };
  };
  return ran;
}
