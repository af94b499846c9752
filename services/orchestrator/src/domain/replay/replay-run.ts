import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Replay_Kind as Kind, StopReason, type Replay } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { EventLog } from "../log/event-log.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { RunProgress } from "../loop/run-progress.ts";
import type { Stop } from "../loop/stop.ts";
import type { AttachedFiles } from "../session/attached-files.ts";
import type { SessionFacts } from "../session/session.ts";
import { withholdMemory } from "../sharing/withhold-memory.ts";
import { replayDecisions } from "./replay-decisions.ts";
import { replayTurns } from "./replay-turns.ts";

export interface ReplayPorts {
  readonly log: Pick<EventLog, "readRecorded">;
  readonly attached: AttachedFiles;
  readonly facts: SessionFacts;
}

/**
 * A run that only looks at what another session did.
 * @param done of the recording what the run has been through already, as one that was taken over has
 * @throws HlvmError, ModelFailure or Interruption where it cannot go on
 */
export async function replayRun(
  { sessionId, kind }: Replay,
  run: RunContext,
  progress: RunProgress,
  done: number,
  { log, attached, facts }: ReplayPorts,
): Promise<Stop> {
  const events = withholdMemory(await log.readRecorded(sessionId), run.principal);
  if (events.length === 0) throw recordingGone(sessionId);
  if (kind === Kind.DECISIONS) await replayDecisions(events, run, done);
  else await replayTurns({ sessionId, events, attached, facts }, run, progress, done);
  return { reason: StopReason.COMPLETED, message: "", advice: "" };
}

/** Whether a run takes no turns of its own. */
export function onlyLooks(replay: Replay | undefined): replay is Replay {
  return replay !== undefined && replay.kind !== Kind.FORK;
}

function recordingGone(sessionId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "session_not_found",
    message: `Session ${sessionId}, which is replayed, was deleted.`,
    advice: "What was replayed until then is in the log.",
  });
}
