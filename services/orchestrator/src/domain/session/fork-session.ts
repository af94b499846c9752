import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { sessionTurns } from "../fold/without-undone.ts";
import type { EventLog } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { Sandbox } from "../loop/ports.ts";
import { workerTurns, type RunTurn } from "../workers/worker-turns.ts";
import { requireSession } from "./require-session.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

const COPY_MILLISECONDS = 310_000;

export interface ForkAsked {
  readonly principal: Principal;
  readonly sessionId: string;
  /** The last event that the fork has. 0: the last one that there is. */
  readonly at: number;
  /** Of the session to be. */
  readonly forkId: string;
}

/** With which a fork gets a copy of the files. */
export interface CopyPorts {
  readonly log: Pick<EventLog, "readConversation">;
  readonly sandbox: Pick<Sandbox, "copyWorkspace" | "closeWorkspace">;
}

/**
 * Makes a session of the caller's that begins with another one's events. They are copied, in one statement: watching, searching,
 * exporting and deleting then know of one kind of session only, and a fork is whole where what it was forked from is deleted.
 * @param copying where the fork gets a copy of the files as they were then; else it works in the same folder, as it is
 * @throws HlvmError `session_not_found`, `session_stateless`, `event_not_found`; with files `run_in_progress`, `session_of_worker`, `copy_incomplete`
 */
export async function forkSession(asked: ForkAsked, store: SessionStore, copying?: CopyPorts): Promise<Session> {
  const { principal, sessionId, at } = asked;
  const parent = await requireSession(store, principal, sessionId, "read");
  if (parent.stateless)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "session_stateless",
      message: "A stateless session is deleted after its one run, and cannot be forked.",
      advice: "Ask without --stateless for a session that is kept.",
    });
  const last = at === 0 ? parent.lastSequence : at;
  if (last > parent.lastSequence)
    throw new HlvmError({
      code: "not_found",
      reason: "event_not_found",
      message: `Session ${sessionId} has no event ${last}: its last one is ${parent.lastSequence}.`,
      advice: `\`hlvm session show ${sessionId} --json\` shows them with their numbers.`,
    });
  return forkAt(asked, parent, last, store, copying);
}

/** The same of a session that is known, from its beginning where `last` is 0. */
export async function forkAt(
  { principal, forkId }: Pick<ForkAsked, "principal" | "forkId">,
  parent: Session,
  last: number,
  store: SessionStore,
  copying?: CopyPorts,
): Promise<Session> {
  const { sessionId } = parent;
  const workspace = copying && (await copyFiles(principal, parent, last, forkId, { ...copying, store }));
  const payload = eventPayload("sessionForked", { parentSessionId: sessionId, parentSequence: BigInt(last) });
  const forked = { runId: randomUUID(), turn: 0, at: new Date(), payload };
  try {
    if (!(await store.fork({ parentId: sessionId, at: last, forkId, owner: principal.id, workspace }, forked)))
      // It was deleted in this moment.
      await requireSession(store, principal, sessionId, "read");
    return await requireSession(store, principal, forkId, "run");
  } catch (thrown) {
    await copying?.sandbox.closeWorkspace(forkId).catch(() => undefined);
    throw thrown;
  }
}

/** A turn of which the fork lacks a result counts as one that was not taken. @returns where the copy is */
async function copyFiles(
  { organization }: Principal,
  parent: Session,
  last: number,
  forkId: string,
  { log, store, sandbox }: CopyPorts & { readonly store: SessionStore },
): Promise<string> {
  const { sessionId, workspace } = parent;
  if (parent.worker !== undefined) throw ofWorker(parent.worker.parentSessionId);
  if (parent.runningRunId !== "") throw runGoesOn(sessionId);
  const events = await log.readConversation(sessionId);
  const isDone = ({ payload }: Event): boolean => payload.case === "assistantMessage" || payload.case === "toolEnd";
  const unfinished = events.filter((event) => event.sequence > last && isDone(event));
  const isLater = (one: RunTurn): boolean => unfinished.some(({ runId, turn }) => runId === one.runId && turn === one.turn);
  const later = sessionTurns(events).filter(isLater);
  const ofWorkers = await workerTurns(organization, events, isLater, { store, log });
  const turns = [...later, ...ofWorkers].map(({ runId, turn }) => ({ runId, turn }));
  return sandbox.copyWorkspace({ sessionId, path: workspace, newSessionId: forkId, turns }, AbortSignal.timeout(COPY_MILLISECONDS));
}

function runGoesOn(sessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "run_in_progress",
    message: `Session ${sessionId} has a run that is still going on: its files cannot be copied meanwhile.`,
    advice: `Wait for its end, or stop it with \`hlvm session cancel ${sessionId}\`.`,
  });
}

function ofWorker(parentSessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "session_of_worker",
    message: "A worker has no files of its own: it works in the folder of its parent.",
    advice: `Fork its parent: \`hlvm session fork ${parentSessionId} --files\`.`,
  });
}
