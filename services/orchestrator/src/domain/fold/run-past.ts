import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Finish, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { CostSchema, type Cost, type RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
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

/** What a run had come to when its process ended, folded from its log. */
export interface RunPast {
  readonly question: string;
  readonly allowedSecrets: readonly string[];
  readonly model: string;
  /** Answers of the model that the log has. */
  readonly answers: number;
  readonly toolCalls: number;
  /** Of the last answer. */
  readonly text: string;
  readonly usage: Usage;
  readonly cost: Cost;
  readonly budget?: RunBudget;
  /** Of all tool results, in UTF-16 units. */
  readonly resultLength: number;
  readonly answered?: AnsweredTurn;
}

/** @param events of the whole session: those of other runs are passed over */
export function runPast(runId: string, events: readonly Event[]): RunPast {
  const past = { question: "", allowedSecrets: [] as string[], model: "", answers: 0, toolCalls: 0, text: "", resultLength: 0 };
  let usage = create(UsageSchema);
  let cost = create(CostSchema);
  let budget: RunBudget | undefined;
  let answered: (AnsweredTurn & { readonly ends: Map<string, ToolResult> }) | undefined;
  for (const { turn, payload } of events.filter((event) => event.runId === runId)) {
    switch (payload.case) {
      case "userMessage":
        past.question = payload.value.text;
        break;
      case "runStarted":
        past.allowedSecrets = payload.value.allowedSecrets;
        past.model = payload.value.model;
        budget = payload.value.budget;
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
      case "usageUpdate":
        usage = payload.value.usage ?? usage;
        cost = payload.value.cost ?? cost;
    }
  }
  return { ...past, usage, cost, budget, answered };
}
