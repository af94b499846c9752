import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Finish, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ReminderKind, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
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
  /** Of all tool results, in UTF-16 units. */
  readonly resultLength: number;
  readonly answered?: AnsweredTurn;
}

/** @param events of the whole session: those of other runs are passed over */
export function runPast(runId: string, events: readonly Event[]): RunPast {
  const past = { question: "", allowedSecrets: [] as string[], model: "", answers: 0, toolCalls: 0, text: "", resultLength: 0 };
  let usage = create(UsageSchema);
  let answered: (AnsweredTurn & { readonly ends: Map<string, ToolResult> }) | undefined;
  for (const { turn, payload } of events.filter((event) => event.runId === runId)) {
    switch (payload.case) {
      case "userMessage":
        past.question = payload.value.text;
        break;
      case "runStarted":
        past.allowedSecrets = payload.value.allowedSecrets;
        past.model = payload.value.model;
        break;
      case "assistantMessage": {
        const { text, toolCalls, finish } = payload.value;
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
      case "reminder":
        // The answer was none: the model was asked to go on.
        if (payload.value.kind === ReminderKind.CONTINUE) answered = undefined;
        break;
      case "usageUpdate":
        usage = payload.value.usage ?? usage;
    }
  }
  return { ...past, usage, answered };
}
