import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { RewindWorkspaceRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { Owner } from "../domain/receipts.ts";
import type { Sessions } from "../domain/sessions.ts";

/** Has an open session's files go back to before the first of some turns. */
export async function rewindWorkspace(sessions: Sessions, owner: Owner, request: RewindWorkspaceRequest) {
  const session = await sessions.get(owner, request.sessionId);
  const turns = request.turns.map(({ runId, turn }) => `${runId}/${turn}`);
  const { preview, overwrite } = request;
  const { failure, ...rewound } = await session.sandbox.rewind({ turns, preview, overwrite });
  if (failure === "") return rewound;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "rewind_failed",
    message: `The files of this session cannot go back: ${failure}.`,
    advice: "Put them back by hand; the conversation stays as it is.",
  });
}
