import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ReadOutputResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { requireSession } from "../domain/session/require-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

const DEFAULT_LIMIT = 64 * 1024;
/** Of a character that takes two units, the first without the second. */
const HALF = /[\uD800-\uDBFF]$/;

/** For whoever may read the session. */
export function readOutputMethod({ store, log }: Pick<Orchestrator, "store" | "log">): ServiceImpl<typeof SessionService>["readOutput"] {
  return async ({ sessionId, callId, offset, limit }, context) => {
    await requireSession(store, callContext(context).principal, sessionId, "read");
    const content = (await log.readOutput(sessionId, callId))?.result?.content;
    if (content === undefined) throw outputNotFound(sessionId, callId);
    const piece = content.slice(offset, offset + (limit || DEFAULT_LIMIT));
    const isLast = offset + piece.length >= content.length;
    return create(ReadOutputResponseSchema, { text: isLast ? piece : piece.replace(HALF, ""), total: content.length });
  };
}

function outputNotFound(sessionId: string, callId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "output_not_found",
    message: `Session ${sessionId} has no result of a call ${callId}.`,
    advice: `\`hlvm session show ${sessionId} --json\` names its calls; one that still runs has none yet.`,
  });
}
