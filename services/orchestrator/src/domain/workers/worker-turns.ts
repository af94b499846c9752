import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { spawnWorker } from "@hlvm/tools/worker-tools";
import { sessionTurns } from "../fold/without-undone.ts";
import type { EventLog } from "../log/event-log.ts";
import type { SessionStore } from "../session/session-store.ts";
import { callId } from "../tools/call-id.ts";
import { workerIds } from "./worker-ids.ts";

export interface RunTurn {
  readonly runId: string;
  readonly turn: number;
}

interface TurnPorts {
  readonly store: Pick<SessionStore, "find">;
  readonly log: Pick<EventLog, "readConversation">;
}

/** The turns of the workers that some turns of a session started, and of theirs: what they wrote is undone with those. */
export async function workerTurns(
  organization: string,
  events: readonly Event[],
  isWanted: (turn: RunTurn) => boolean,
  ports: TurnPorts,
): Promise<RunTurn[]> {
  const turns: RunTurn[] = [];
  for (const { runId, turn, payload } of events) {
    if (payload.case !== "assistantMessage" || !isWanted({ runId, turn })) continue;
    for (const [index, { tool }] of payload.value.toolCalls.entries()) {
      if (tool !== spawnWorker.name) continue;
      const { sessionId } = workerIds(callId(runId, turn, index + 1));
      if ((await ports.store.find(organization, sessionId)) === undefined) continue;
      const own = await ports.log.readConversation(sessionId);
      turns.push(...sessionTurns(own).map((one) => ({ runId: one.runId, turn: one.turn })));
      turns.push(...(await workerTurns(organization, own, () => true, ports)));
    }
  }
  return turns;
}
