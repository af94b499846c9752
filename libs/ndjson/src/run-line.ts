import { timestampDate } from "@bufbuild/protobuf/wkt";
import { StopReasonSchema, type Event, type RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { agentEventFields } from "./agent-event-fields.ts";
import { budgetFields } from "./budget-fields.ts";
import { enumWord } from "./enum-word.ts";
import { eventType } from "./event-type.ts";
import type { JsonObject } from "./json-object.ts";

/** A piece of the answer. */
export interface TokenLine {
  readonly type: "token";
  readonly text: string;
}

/** Anything else that happened: its `type` is the event's name in the log, its other fields are that event's. */
export interface AgentEventLine {
  readonly type: "agent_event";
  readonly event: JsonObject & {
    readonly type: string;
    readonly sequence: number;
    readonly session_id: string;
    readonly run_id: string;
  };
}

/** Tokens of the whole run, each counted once. */
export interface FinalUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** Of calls whose price is known, and how many there were without one. */
export interface FinalCost {
  readonly nano_dollars: number;
  readonly unpriced_calls: number;
}

/** The last line of every run. */
export interface FinalLine {
  readonly type: "final";
  /** Empty where the run failed before it had a session. */
  readonly session_id: string;
  readonly run_id: string;
  /** `completed`, `user_cancelled`, `error`, … */
  readonly stop_reason: string;
  /** The answer. */
  readonly text: string;
  /** What went wrong, and what to do; empty when the run completed. */
  readonly message: string;
  readonly advice: string;
  readonly turns: number;
  readonly tool_calls: number;
  readonly usage: FinalUsage;
  readonly duration_ms: number;
  readonly cost: FinalCost;
  /** For `max_budget_reached`: which one it was; absent otherwise. */
  readonly exhausted_budget?: JsonObject;
}

export type RunLine = TokenLine | AgentEventLine | FinalLine;

/** The NDJSON line of one event; undefined for a kind of event that this version does not know. */
export function runLine(event: Event): RunLine | undefined {
  const { payload } = event;
  if (payload.case === undefined) return undefined;
  if (payload.case === "messageDelta") return { type: "token", text: payload.value.text };
  if (payload.case === "runStopped") return finalLine(event, payload.value);
  return {
    type: "agent_event",
    event: {
      type: eventType(payload.case),
      sequence: Number(event.sequence),
      session_id: event.sessionId,
      run_id: event.runId,
      iteration: event.turn,
      principal: event.principal,
      at: event.at === undefined ? undefined : timestampDate(event.at).toISOString(),
      ...snakeCase(agentEventFields(payload)),
    },
  };
}

/** NDJSON spells every field as the contracts do: `duration_ms`. */
function snakeCase(fields: JsonObject): JsonObject {
  const entries = Object.entries(fields).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    snakeCaseIn(value),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

function snakeCaseIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCaseIn);
  return typeof value === "object" && value !== null ? snakeCase(value as JsonObject) : value;
}

function finalLine(event: Event, stopped: RunStopped): FinalLine {
  return {
    type: "final",
    session_id: event.sessionId,
    run_id: event.runId,
    stop_reason: enumWord(StopReasonSchema, stopped.reason),
    text: stopped.text,
    message: stopped.message,
    advice: stopped.advice,
    turns: stopped.turns,
    tool_calls: stopped.toolCalls,
    usage: {
      input_tokens: Number(stopped.usage?.inputTokens ?? 0),
      output_tokens: Number(stopped.usage?.outputTokens ?? 0),
      cache_read_tokens: Number(stopped.usage?.cacheReadTokens ?? 0),
      cache_write_tokens: Number(stopped.usage?.cacheWriteTokens ?? 0),
      reasoning_tokens: Number(stopped.usage?.reasoningTokens ?? 0),
    },
    duration_ms: stopped.durationMilliseconds,
    cost: { nano_dollars: Number(stopped.cost?.nanoDollars ?? 0), unpriced_calls: stopped.cost?.unpricedCalls ?? 0 },
    ...(stopped.exhaustedBudget === undefined ? {} : { exhausted_budget: budgetFields(stopped.exhaustedBudget) }),
  };
}
