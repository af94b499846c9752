import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { UndoToTurnResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import { undoToTurn } from "../domain/session/undo-to-turn.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function undoToTurnMethod({ store, log, delegations, mesh }: Orchestrator): ServiceImpl<typeof SessionService>["undoToTurn"] {
  return async ({ sessionId, toTurn, preview, overwrite, acceptIncomplete, runId, delegation }, context) => {
    const { principal } = callContext(context);
    requireDelegation(delegations.verify(delegation), { principal, sessionId, runId });
    const { sandbox } = mesh({ principal, delegation });
    const asked = { principal, sessionId, toTurn, preview, overwrite, acceptIncomplete, runId };
    const { turns, paths, pathCount, incomplete } = await undoToTurn(asked, { store, log, sandbox });
    return create(UndoToTurnResponseSchema, {
      turns: turns.map(({ number, turn }) => ({ turn: number, summary: turn.summary })),
      paths: [...paths],
      pathCount,
      incomplete,
    });
  };
}
