import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import { runLine } from "@hlvm/ndjson/run-line";
import {
  Replay_Kind as Kind,
  ReplaySchema,
  StopReason,
  type CallReplayed,
  type RunStopped,
  type ToolEnd,
  type TurnReplayed,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { evalSetting, type EvalSetting } from "../eval/eval-setting.ts";
import { decisionsReport, forkReport, turnsReport, type ReplayReport } from "../eval/replay-report.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { followSession } from "../run/follow-session.ts";
import { printable, printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const CANCEL_MILLISECONDS = 20_000;

export interface EvalReplayFlags {
  readonly decisions?: boolean;
  readonly nextTurn?: boolean;
  /** The first turn that is made anew, from 1 over the whole session. */
  readonly fork?: number;
  readonly model?: string;
  readonly setting?: string;
  readonly json?: boolean;
}

interface Replayed {
  sessionId: string;
  readonly calls: CallReplayed[];
  readonly turns: TurnReplayed[];
  readonly ends: ToolEnd[];
  stopped?: RunStopped;
}

/** Tries what a recorded session did over again, against another policy, another model, or from one of its turns on. */
export async function evalReplay(recordedId: string, flags: EvalReplayFlags, context: CommandContext): Promise<number> {
  const { kind, setting } = askedFor(flags);
  const replayed: Replayed = { sessionId: "", calls: [], turns: [], ends: [] };
  const code = await untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const sessions = createClient(SessionService, transport);
        const settings = {
          mode: permissionModeOf(setting.mode),
          allowedTools: [],
          disallowedTools: [...setting.disallowedTools],
          // Asks are what a policy is tried for; a run that goes on in a copy has nobody to ask.
          canAsk: kind !== Kind.FORK,
        };
        const replay = create(ReplaySchema, { sessionId: recordedId, kind, turn: flags.fork ?? 0 });
        const model = flags.model ?? setting.model;
        const asked = { prompt: `Replay of session ${recordedId}`, model, settings, replay };
        const { sessionId, runId, sequence } = await sessions.startRun(asked, { signal });
        replayed.sessionId = sessionId;
        const cancel = (): void => void sessions.cancelRun({ sessionId, runId }, { timeoutMs: CANCEL_MILLISECONDS }).catch(() => undefined);
        signal.addEventListener("abort", cancel, { once: true });
        const following = { sessionId, from: sequence, follow: true, signal, onLost: () => undefined };
        for await (const event of followSession(sessions, following)) {
          if (event.runId !== runId) continue;
          const { payload } = event;
          if (flags.json === true) writeLine(event);
          if (payload.case === "callReplayed") replayed.calls.push(payload.value);
          if (payload.case === "turnReplayed") replayed.turns.push(payload.value);
          if (payload.case === "toolEnd") replayed.ends.push(payload.value);
          context.screen.status(progressOf(replayed));
          if (payload.case !== "runStopped") continue;
          replayed.stopped = payload.value;
          return;
        }
      },
      signal,
    ),
  ).finally(() => context.screen.status(""));
  if (replayed.sessionId === "") return code;
  tell(replayed, { kind, recordedId, flags, context });
  if (code !== EXIT_OK) return code;
  return replayed.stopped?.reason === StopReason.COMPLETED ? EXIT_OK : EXIT_FAILED;
}

function askedFor({ decisions, nextTurn, fork, setting = "" }: EvalReplayFlags): { readonly kind: Kind; readonly setting: EvalSetting } {
  const kinds = [decisions === true && Kind.DECISIONS, nextTurn === true && Kind.NEXT_TURN, fork !== undefined && Kind.FORK];
  const asked = kinds.filter((kind) => kind !== false);
  const [kind] = asked;
  if (kind === undefined || asked.length > 1)
    throw wrongUsage("What is to be tried over again?", "Give one of --decisions, --next-turn and --fork TURN.");
  const usual = kind === Kind.FORK ? "bypassPermissions" : "default";
  return { kind, setting: setting === "" ? { name: "", model: "", mode: usual, disallowedTools: [] } : evalSetting(setting, usual) };
}

/** Pieces of an answer come whole later. */
function writeLine(event: Parameters<typeof runLine>[0]): void {
  const line = event.payload.case === "messageDelta" ? undefined : runLine(event);
  if (line !== undefined) process.stdout.write(jsonLine(line));
}

function progressOf({ calls, turns, ends }: Replayed): string {
  if (calls.length > 0) return `${calls.length} calls judged`;
  return turns.length > 0 ? `${turns.length} turns replayed` : `${ends.length} calls made`;
}

interface Telling {
  readonly kind: Kind;
  readonly recordedId: string;
  readonly flags: EvalReplayFlags;
  readonly context: CommandContext;
}

function tell({ sessionId, calls, turns, ends, stopped }: Replayed, { kind, recordedId, flags, context }: Telling): void {
  const report = reportOf(kind, { calls, turns, ends });
  if (flags.json === true) {
    const sessions = { session_id: sessionId, replayed_session_id: recordedId };
    return void process.stdout.write(jsonLine({ type: "replay", ...sessions, ...report.figures }));
  }
  if (kind === Kind.FORK && stopped !== undefined && stopped.text !== "") process.stdout.write(`${printable(stopped.text)}\n\n`);
  process.stdout.write(report.text);
  if (stopped?.reason !== StopReason.COMPLETED)
    context.screen.note(
      printableLine(`It did not come to its end: ${stopped?.message ?? "it was interrupted"} ${stopped?.advice ?? ""}`, 400),
      "bad",
    );
  const next = kind === Kind.FORK ? `hlvm session diff ${sessionId}` : `hlvm session show ${sessionId}`;
  context.screen.note(`Next: ${next}`);
}

function reportOf(kind: Kind, { calls, turns, ends }: Pick<Replayed, "calls" | "turns" | "ends">): ReplayReport {
  if (kind === Kind.DECISIONS) return decisionsReport(calls);
  return kind === Kind.NEXT_TURN ? turnsReport(turns) : forkReport(ends);
}
