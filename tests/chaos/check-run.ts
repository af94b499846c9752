import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { enumToJson, equals } from "@bufbuild/protobuf";
import { AuditKind, OutcomeStatus, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, StopReason, StopReasonSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { ChaosMesh } from "./chaos-mesh.ts";
import type { DrivenRun } from "./drive-run.ts";
import { LINES_FILE, lineOf } from "./next-step.ts";

/** The kinds of failure, in the order in which they are told. */
export const demands = ["completed", "lines once", "log gapless", "watched = log", "audited"] as const;
export type Demand = (typeof demands)[number];

export interface Failure {
  readonly demand: Demand;
  readonly run: number;
  readonly sessionId: string;
  readonly observed: string;
}

export interface CheckedRun {
  readonly failures: readonly Failure[];
  readonly log: readonly Event[];
  readonly takeovers: number;
  readonly outcomesUnknown: number;
}

const PAGE = 1_000;
const LOOK_MILLISECONDS = 1_000;
const UNKNOWN = "outcome_unknown";

/** What does not hold of a run, once nobody is killed any more. @param outcomesBy when the audit log has to be complete */
export async function checkRun(mesh: ChaosMesh, run: DrivenRun, turns: number, outcomesBy: number): Promise<CheckedRun> {
  if (run.sessionId === "") {
    const failure: Failure = { demand: "completed", run: run.number, sessionId: "", observed: "it could not be started in time" };
    return { failures: [failure], log: [], takeovers: 0, outcomesUnknown: 0 };
  }
  const log = await readLog(mesh, run.sessionId);
  const ends = log.flatMap(({ payload }) => (payload.case === "toolEnd" ? [payload.value] : []));
  const observed: Record<Demand, string> = {
    completed: completedFault(run, log),
    "lines once": linesFault(run, turns),
    "log gapless": gapFault(log),
    "watched = log": watchFault(run.seen, log),
    audited: await auditFault(mesh, run.sessionId, log, outcomesBy),
  };
  const failures = demands.flatMap((demand) =>
    observed[demand] === "" ? [] : [{ demand, run: run.number, sessionId: run.sessionId, observed: observed[demand] }],
  );
  return {
    failures,
    log,
    takeovers: log.filter(({ payload }) => payload.case === "runTakenOver").length,
    outcomesUnknown: ends.filter(({ result }) => result?.errorCode === UNKNOWN).length,
  };
}

async function readLog(mesh: ChaosMesh, sessionId: string): Promise<Event[]> {
  const log: Event[] = [];
  for await (const { events } of mesh.sessions().watch({ sessionId, fromSequence: 1n, follow: false })) log.push(...events);
  return log;
}

function completedFault({ stopped }: DrivenRun, log: readonly Event[]): string {
  const ends = log.flatMap(({ payload }) => (payload.case === "runStopped" ? [payload.value] : []));
  if (ends.length !== 1) return `the log has ${ends.length} ends`;
  if (stopped === undefined) return "its end was not seen";
  const { reason, message, text } = ends[0]!;
  if (reason !== StopReason.COMPLETED) return `${enumToJson(StopReasonSchema, reason)}: ${message}`;
  return /^All \d+ lines are written\.$/.test(text) ? "" : `the model said: ${text}`;
}

function linesFault({ workspace, number }: DrivenRun, turns: number): string {
  const wanted = Array.from({ length: turns }, (_, index) => lineOf(number, index + 1));
  const written = readFileSync(join(workspace, LINES_FILE), { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1);
  const missing = wanted.filter((line) => !written.includes(line));
  const twice = wanted.filter((line) => written.filter((other) => other === line).length > 1);
  if (missing.length > 0 || twice.length > 0) return `missing: ${missing.join(", ") || "none"}; twice: ${twice.join(", ") || "none"}`;
  return written.join() === wanted.join() ? "" : `another order, or other lines: ${written.join(", ")}`;
}

function gapFault(log: readonly Event[]): string {
  const index = log.findIndex(({ sequence }, position) => sequence !== BigInt(position + 1));
  return index < 0 ? "" : `number ${log[index]!.sequence} in place ${index + 1}`;
}

function watchFault(seen: readonly Event[], log: readonly Event[]): string {
  const index = log.findIndex((event, position) => seen[position] === undefined || !equals(EventSchema, event, seen[position]));
  if (index >= 0) return `event ${index + 1} of ${log.length} (${log[index]!.payload.case}) was seen as ${seen[index]?.payload.case}`;
  return seen.length === log.length ? "" : `${seen.length} events were seen, and ${log.length} are in the log`;
}

/** Every call that was let through has an intent and one outcome, and an unknown one only where the log says so. */
async function auditFault(mesh: ChaosMesh, sessionId: string, log: readonly Event[], outcomesBy: number): Promise<string> {
  const audit = mesh.audit();
  const query = async (kind: AuditKind): Promise<AuditEvent[]> => (await audit.query({ sessionId, kind, limit: PAGE })).events;
  for (;;) {
    const [intents, outcomes] = await Promise.all([query(AuditKind.INTENT), query(AuditKind.OUTCOME)]);
    const fault = auditFaultNow(log, intents, outcomes);
    if (fault === "" || performance.now() > outcomesBy) return fault;
    await sleep(LOOK_MILLISECONDS);
  }
}

function auditFaultNow(log: readonly Event[], intents: readonly AuditEvent[], outcomes: readonly AuditEvent[]): string {
  const faults: string[] = [];
  for (const { payload } of log) {
    if (payload.case !== "toolEnd") continue;
    const { callId, result } = payload.value;
    const intent = intents.filter((event) => event.callId === callId);
    const outcome = outcomes.filter((event) => event.callId === callId);
    const isRun = intent[0]?.decision === Decision.ALLOW;
    if (intent.length !== 1) faults.push(`${callId}: ${intent.length} intents`);
    else if (outcome.length !== (isRun ? 1 : 0)) faults.push(`${callId}: ${outcome.length} outcomes`);
    else if (outcome[0]?.outcome === OutcomeStatus.UNKNOWN && result?.errorCode !== UNKNOWN)
      faults.push(`${callId}: outcome unknown in the audit log, and "${result?.errorCode || "success"}" in the run's`);
  }
  return faults.join("; ");
}
