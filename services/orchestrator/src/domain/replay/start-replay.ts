import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Replay_Kind as Kind, type Event, type Replay } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { sessionTurns } from "../fold/without-undone.ts";
import { resolveModel } from "../run/resolve-model.ts";
import { beginAskedRun, type Opening } from "../session/begin-asked-run.ts";
import { forkAt } from "../session/fork-session.ts";
import { requireSession } from "../session/require-session.ts";
import type { Session } from "../session/session.ts";
import { requireStartable, type RunAsked, type RunStarter, type StartedRun } from "../session/start-run.ts";

/**
 * Starts a run that replays what another session did, in a session of its own. One that only looks opens no workspace: nothing of it
 * has an effect.
 * @throws HlvmError `session_not_found` also where it is not for this person, `replay_not_new`, `turn_not_found`, what `forkSession` throws, what the model gateway says
 */
export async function startReplay(asked: RunAsked, replay: Replay, starter: RunStarter): Promise<StartedRun> {
  requireStartable(asked, starter);
  const recorded = await requireSession(starter.store, asked.principal, replay.sessionId, "read");
  if (!asked.isNew || asked.isPrepared || asked.workspace !== "" || asked.attachments.length > 0) throw replayNotNew();
  const model = await resolveModel(starter.mesh.models, asked.model || recorded.model, { task: asked.prompt, needs: {} }, asked.signal);
  if (replay.kind === Kind.FORK) return startFork(asked, replay, { starter, recorded, model });
  const { workspace, gitRepository, gitBranch, secretKey } = recorded;
  const facts = {
    sessionId: asked.sessionId,
    owner: asked.principal.id,
    workspace,
    gitRepository,
    gitBranch,
    // Marks in the recording stand for the same secrets as marks in the replay: calls with them can be compared.
    secretKey,
    stateless: asked.stateless,
  };
  return beginAskedRun(asked, { isNew: true, facts, model, attachments: [], files: [], replay }, starter);
}

interface ForkStart {
  readonly starter: RunStarter;
  readonly recorded: Session;
  readonly model: Model;
}

/** Goes on from before a turn of the recording, in a fork with a copy of the files as they were then. */
async function startFork(asked: RunAsked, replay: Replay, { starter, recorded, model }: ForkStart): Promise<StartedRun> {
  const { store, log, mesh } = starter;
  const { last, opening } = placeOf(await log.readRecorded(recorded.sessionId), replay);
  const forked = { principal: asked.principal, forkId: asked.sessionId };
  const facts = await forkAt(forked, recorded, last, store, { log, sandbox: mesh.sandbox });
  await mesh.sandbox.openWorkspace(facts.sessionId, facts.workspace, asked.signal);
  return beginAskedRun(asked, { isNew: false, facts, model, attachments: [], files: [], replay, opening }, starter);
}

/** Where the turn begins: the last event before it, and what was asked with it where it is the first one of its run. */
function placeOf(events: readonly Event[], { sessionId, turn: number }: Replay): { readonly last: number; readonly opening: Opening } {
  const turns = sessionTurns(events);
  const turn = turns[number - 1];
  if (turn === undefined) throw turnNotFound(sessionId, number, turns.length);
  const { runId } = turn;
  const begin = events.findIndex((event) => event.runId === runId);
  const asked = events[begin]?.payload;
  const question = asked?.case === "userMessage" ? asked.value.text : "";
  const isFirst = !turns.slice(0, number - 1).some((earlier) => earlier.runId === runId);
  const answer = events.findIndex(
    (event) => event.runId === runId && event.turn === turn.turn && event.payload.case === "assistantMessage",
  );
  const last = Number(events[(isFirst ? begin : answer) - 1]?.sequence ?? 0n);
  return { last, opening: { question, said: isFirst && asked?.case === "userMessage" ? asked.value : undefined } };
}

function turnNotFound(sessionId: string, turn: number, last: number): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "turn_not_found",
    message: `Session ${sessionId} has no turn ${turn}: it has ${last} that count.`,
    advice: `\`hlvm session show ${sessionId}\` shows them.`,
  });
}

function replayNotNew(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "replay_not_new",
    message: "A replay is a new session that takes everything from the recorded one: it has no workspace and no attachments of its own.",
    advice: "Leave them out.",
  });
}
