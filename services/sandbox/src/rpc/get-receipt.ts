import type { HandlerContext } from "@connectrpc/connect";
import { GetReceiptResponse_State, type GetReceiptRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Sessions } from "../domain/sessions.ts";
import { toolResultMessage } from "./tool-result-message.ts";

const states = {
  never_started: GetReceiptResponse_State.NEVER_STARTED,
  running: GetReceiptResponse_State.RUNNING,
  done: GetReceiptResponse_State.DONE,
  unknown: GetReceiptResponse_State.UNKNOWN,
};

export async function getReceipt(sessions: Sessions, request: GetReceiptRequest, context: HandlerContext) {
  const receipt = await sessions.receipt(callContext(context).principal, request.sessionId, request.callId);
  return { state: states[receipt.state], result: receipt.state === "done" ? toolResultMessage(receipt.result) : undefined };
}
