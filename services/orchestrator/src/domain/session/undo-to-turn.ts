import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { sessionTurns, type SessionTurn } from "../fold/without-undone.ts";
import type { EventLog } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { Rewound, Sandbox } from "../loop/ports.ts";
import { workerTurns, type RunTurn } from "../workers/worker-turns.ts";
import { requireSession } from "./require-session.ts";
import type { SessionStore } from "./session-store.ts";

const OPEN_MILLISECONDS = 30_000;

export interface UndoAsked {
  readonly principal: Principal;
  readonly sessionId: string;
  /** The last turn of the session that still counts; 0: none. */
  readonly toTurn: number;
  readonly preview: boolean;
  readonly overwrite: boolean;
  /** Also where checkpoints are gone, so that not all goes back. */
  readonly acceptIncomplete: boolean;
  /** Of the undo itself, which is no run. */
  readonly runId: string;
}

interface UndoPorts {
  readonly store: SessionStore;
  readonly log: Pick<EventLog, "readConversation">;
  readonly sandbox: Pick<Sandbox, "openWorkspace" | "rewind">;
}

export interface Undone extends Rewound {
  /** Turns that no longer count, with their numbers. */
  readonly turns: readonly { readonly number: number; readonly turn: SessionTurn }[];
}

/**
 * Goes back to an earlier turn. The files go first: an undo that was cut off is given again, and finds them there.
 * @throws HlvmError `session_not_found`, `run_in_progress`, `turn_not_found`, `undo_incomplete`, what the sandbox says
 */
export async function undoToTurn(asked: UndoAsked, { store, log, sandbox }: UndoPorts): Promise<Undone> {
  const { principal, sessionId, toTurn, preview, overwrite } = asked;
  const session = await requireSession(store, principal, sessionId, "drive");
  if (session.worker !== undefined) throw ofWorker(session.worker.parentSessionId);
  if (session.runningRunId !== "") throw runGoesOn(sessionId);
  const events = await log.readConversation(sessionId);
  const turns = sessionTurns(events);
  if (toTurn > turns.length) throw turnNotFound(sessionId, toTurn, turns.length);
  const undone = turns.slice(toTurn);
  const isUndone = (one: RunTurn): boolean => undone.some(({ runId, turn }) => runId === one.runId && turn === one.turn);
  const ofWorkers = await workerTurns(principal.organization, events, isUndone, { store, log });
  const rewinding = [...undone, ...ofWorkers].map(({ runId, turn }) => ({ runId, turn }));
  await sandbox.openWorkspace(sessionId, session.workspace, AbortSignal.timeout(OPEN_MILLISECONDS));
  const rewind = (isPreview: boolean): Promise<Rewound> => sandbox.rewind(sessionId, { turns: rewinding, preview: isPreview, overwrite });
  if (!preview && !asked.acceptIncomplete && (await rewind(true)).incomplete) throw incompleteUndo(sessionId, toTurn);
  const rewound = await rewind(preview);
  const { paths, pathCount, incomplete } = rewound;
  if (!preview) {
    const isLeft = (one: { readonly changedByOthers: boolean; readonly failure: string }): boolean =>
      (one.changedByOthers && !overwrite) || one.failure !== "";
    const payload = eventPayload("conversationUndone", {
      lastSequence: toTurn === 0 ? 0n : turns[toTurn - 1]!.lastSequence,
      toTurn,
      restoredPaths: paths.filter((one) => !isLeft(one)).map(({ path }) => path),
      keptPaths: paths.filter(isLeft).map(({ path }) => path),
    });
    const isAppended = await store.appendOutsideRuns(sessionId, principal.id, { runId: asked.runId, turn: 0, at: new Date(), payload });
    if (!isAppended) throw runGoesOn(sessionId);
  }
  return { turns: undone.map((turn, index) => ({ number: toTurn + index + 1, turn })), paths, pathCount, incomplete };
}

function incompleteUndo(sessionId: string, toTurn: number): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "undo_incomplete",
    message: `What the workspace of session ${sessionId} held after turn ${toTurn} may not be kept any more: not all that was written since would go back. Nothing was undone.`,
    advice: "`hlvm session undo --partial` has what is kept go back; `hlvm session diff` shows what the session changed.",
  });
}

function runGoesOn(sessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "run_in_progress",
    message: `Session ${sessionId} has a run that is still going on.`,
    advice: `Stop it with \`hlvm session cancel ${sessionId}\`, or wait for its end; then undo.`,
  });
}

function ofWorker(parentSessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "session_of_worker",
    message: "What a worker did is undone with the turn of its parent that started it.",
    advice: `Undo in its parent: \`hlvm session undo ${parentSessionId} --to TURN\`.`,
  });
}

function turnNotFound(sessionId: string, turn: number, last: number): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "turn_not_found",
    message: `Session ${sessionId} has no turn ${turn}: it has ${last} that count.`,
    advice: "0 goes back to before the first.",
  });
}
