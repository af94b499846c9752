import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Finish, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ReminderKind, type Event, type Replay, type RunStarted, type WorkerBudget } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { CostSchema, type Cost, type RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { GENERAL_AGENT, type RunAgent } from "../workers/run-agent.ts";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

/** The last turn of which the log has the model's answer. */
export interface AnsweredTurn {
  readonly turn: number;
  /** Their arguments as the log has them, with marks in the place of secrets. */
  readonly toolCalls: readonly ToolCallPart[];
  /** Absent where the answer was cut. */
  readonly finish?: Finish;
  /** What calls of it ended with, by their ids. */
  readonly ends: ReadonlyMap<string, ToolResult>;
}

/** A worker that a run had started when its process ended. */
export interface PastWorker {
  readonly budget: WorkerBudget;
  readonly isCompleted: boolean;
  /** That it took. */
  readonly turns: number;
  /** The last of its events whose question was passed on. */
  readonly passedOn: bigint;
}

/** What a run had come to when its process ended, folded from its log. */
export interface RunPast {
  readonly question: string;
  readonly allowedSecrets: readonly string[];
  readonly model: string;
  /** That the model was resolved by; empty where it was named. */
  readonly route: string;
  /** Answers of the model that the log has. */
  readonly answers: number;
  readonly toolCalls: number;
  /** Of the last answer. */
  readonly text: string;
  readonly usage: Usage;
  /** Of the messages that were sent to it while it went on: those that it has read. */
  readonly readSequences: readonly bigint[];
  readonly cost: Cost;
  readonly budget?: RunBudget;
  /** Of all tool results, in UTF-16 units. */
  readonly resultLength: number;
  readonly answered?: AnsweredTurn;
  readonly agent: RunAgent;
  /** Of a worker: what it may use up of its parent's. */
  readonly allowance?: WorkerBudget;
  /** What it replays, where it does, and how much of that it has. */
  readonly replay?: Replay;
  readonly replayed: number;
  /** By the ids of the calls that started them. */
  readonly workers: ReadonlyMap<string, PastWorker>;
}

/** @param events of the whole session: those of other runs are passed over */
export function runPast(runId: string, events: readonly Event[]): RunPast {
  const past = {
    question: "",
    allowedSecrets: [] as string[],
    model: "",
    route: "",
    answers: 0,
    toolCalls: 0,
    text: "",
    resultLength: 0,
    replayed: 0,
  };
  const readSequences: bigint[] = [];
  let usage = create(UsageSchema);
  const workers = new Map<string, PastWorker>();
  let agent = GENERAL_AGENT;
  let allowance: WorkerBudget | undefined;
  let cost = create(CostSchema);
  let budget: RunBudget | undefined;
  let replay: Replay | undefined;
  let answered: (AnsweredTurn & { readonly ends: Map<string, ToolResult> }) | undefined;
  for (const { turn, payload } of events.filter((event) => event.runId === runId)) {
    switch (payload.case) {
      case "userMessage":
        if (payload.value.queuedSequence === 0n) past.question = payload.value.text;
        else readSequences.push(payload.value.queuedSequence);
        // What was said after an answer is read in a turn of its own.
        answered = undefined;
        break;
      case "runStarted":
        past.allowedSecrets = payload.value.allowedSecrets;
        past.model = payload.value.model;
        past.route = payload.value.resolvedModel?.route ?? "";
        agent = agentOf(payload.value);
        allowance = payload.value.origin?.budget;
        budget = payload.value.budget;
        replay = payload.value.replay;
        break;
      case "callReplayed":
      case "turnReplayed":
        past.replayed++;
        break;
      case "assistantMessage": {
        const { text, toolCalls, finish, runUsage, runCost } = payload.value;
        usage = runUsage ?? usage;
        cost = runCost ?? cost;
        past.answers++;
        past.text = text;
        past.toolCalls += toolCalls.length;
        answered = { turn, toolCalls, finish, ends: new Map() };
        break;
      }
      case "toolEnd":
        if (payload.value.result === undefined) break;
        past.resultLength += payload.value.result.content.length;
        answered?.ends.set(payload.value.callId, payload.value.result);
        break;
      case "workerSpawned":
        workers.set(payload.value.callId, { budget: payload.value.budget!, isCompleted: false, turns: 0, passedOn: 0n });
        break;
      case "workerPermission":
        change(workers, payload.value.callId, { passedOn: payload.value.childSequence });
        break;
      case "workerCompleted":
        change(workers, payload.value.callId, { isCompleted: true, turns: payload.value.turns });
        break;
      case "reminder":
        // The answer was none: the model was asked to go on.
        if (payload.value.kind === ReminderKind.CONTINUE) answered = undefined;
        break;
      case "usageUpdate":
        usage = payload.value.usage ?? usage;
        cost = payload.value.cost ?? cost;
    }
  }
  return { ...past, readSequences, usage, cost, budget, replay, answered, agent, allowance, workers };
}

/** As what a run works that began so. */
export function agentOf({ agent, workerProfiles }: RunStarted): RunAgent {
  return { profile: agent ?? GENERAL_AGENT.profile, own: workerProfiles };
}

function change(workers: Map<string, PastWorker>, callId: string, changes: Partial<PastWorker>): void {
  const known = workers.get(callId);
  if (known !== undefined) workers.set(callId, { ...known, ...changes });
}
