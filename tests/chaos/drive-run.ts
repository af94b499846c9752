import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { followSession } from "@hlvm/service-cli/src/run/follow-session.ts";
import type { ChaosMesh } from "./chaos-mesh.ts";
import { LINE_MODEL } from "./line-model.ts";
import { promptOf } from "./next-step.ts";

const START_DEADLINE_MILLISECONDS = 20_000;
const START_PAUSE_MILLISECONDS = 1_000;
const PAGE = 500;

/** A run and what whoever watched it saw. */
export interface DrivenRun {
  readonly number: number;
  /** Empty where it could not be started in time. */
  readonly sessionId: string;
  readonly workspace: string;
  /** In the order in which they came. */
  readonly seen: readonly Event[];
  /** Undefined where its end was not seen in time. */
  readonly stopped: RunStopped | undefined;
  /** Why the start had to be asked for again, each time. */
  readonly startsLost: readonly string[];
  /** How often the watch gave up and was begun anew by hand, each with its reason. */
  readonly watchesLost: readonly string[];
}

const NOT_STARTED = { sessionId: "", workspace: "", seen: [], stopped: undefined, startsLost: [], watchesLost: [] };

/** A run as it is asked for. */
export interface RunToDrive {
  readonly number: number;
  readonly turns: number;
  /** Whether a person is asked for each of its calls. */
  readonly asks?: boolean;
}

/** Starts a run and watches it to its end, as a person does who tries again where nobody answers. */
export async function driveRun(mesh: ChaosMesh, run: RunToDrive, signal: AbortSignal): Promise<DrivenRun> {
  const { number } = run;
  const started = await start(mesh, run, signal).catch((thrown: unknown) => {
    if (signal.aborted) return undefined;
    throw thrown;
  });
  if (started === undefined) return { ...NOT_STARTED, number };
  const sessions = mesh.sessions();
  const seen: Event[] = [];
  const watchesLost: string[] = [];
  let stopped: RunStopped | undefined;
  while (stopped === undefined && !signal.aborted) {
    const ended = new AbortController();
    const from = (seen.at(-1)?.sequence ?? 0n) + 1n;
    const options = { sessionId: started.sessionId, from, follow: true, signal: AbortSignal.any([signal, ended.signal]), onLost: () => {} };
    try {
      for await (const event of followSession(sessions, options)) {
        seen.push(event);
        if (event.payload.case !== "runStopped") continue;
        stopped = event.payload.value;
        break;
      }
    } catch (thrown) {
      if (signal.aborted) break;
      watchesLost.push(messageOf(thrown));
      await sleep(START_PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    } finally {
      ended.abort();
    }
  }
  return { number, ...started, seen, stopped, watchesLost };
}

type Started = Pick<DrivenRun, "sessionId" | "workspace" | "startsLost">;

/**
 * A start whose answer was lost may have begun a run: its workspace tells. One that has not begun is tried in another folder,
 * so that whatever still comes of the first one does not come into its way.
 */
async function start(mesh: ChaosMesh, { number, turns, asks = false }: RunToDrive, signal: AbortSignal): Promise<Started> {
  const startsLost: string[] = [];
  for (;;) {
    const workspace = mesh.workspace(`run-${number}-${startsLost.length + 1}`);
    const sessions = mesh.sessions();
    const request = {
      prompt: promptOf(number, turns),
      workspace,
      model: LINE_MODEL,
      settings: { mode: asks ? PermissionMode.DEFAULT : PermissionMode.BYPASS_PERMISSIONS, canAsk: asks },
    };
    try {
      const { sessionId } = await sessions.startRun(request, { signal, timeoutMs: START_DEADLINE_MILLISECONDS });
      return { sessionId, workspace, startsLost };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      startsLost.push(messageOf(thrown));
    }
    await sleep(START_PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    const begun = await findBegun(mesh, workspace, signal);
    if (begun !== undefined) return { sessionId: begun, workspace, startsLost };
  }
}

/** @returns the session that works there */
async function findBegun(mesh: ChaosMesh, workspace: string, signal: AbortSignal): Promise<string | undefined> {
  const sessions = mesh.sessions();
  for (;;) {
    try {
      const { sessions: listed } = await sessions.listSessions({ limit: PAGE }, { signal, timeoutMs: START_DEADLINE_MILLISECONDS });
      return listed.find((session) => session.workspace === workspace)?.sessionId;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      await sleep(START_PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    }
  }
}
