import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunPast } from "../fold/run-past.ts";
import { addUsage } from "./add-usage.ts";
import type { Stop } from "./stop.ts";

/** How far a run has come: kept as it goes, told when it stops. */
export class RunProgress {
  turn = 0;
  /** Turns whose answer was lost on the way: they do not count against the run's limit. */
  lostTurns = 0;
  /** Turns that its workers took: they count against the run's limit. */
  workerTurns = 0;
  toolCalls = 0;
  /** Of the last assistant message. */
  text = "";
  usage: Usage = create(UsageSchema);
  readonly #started: number = performance.now();

  /** @param past of a run that is gone on with, with the last turn of which the log has anything */
  constructor(past?: RunPast & { readonly turn: number; readonly ageMilliseconds: number }) {
    if (past === undefined) return;
    this.turn = past.turn;
    this.lostTurns = past.turn - past.answers;
    this.toolCalls = past.toolCalls;
    for (const { turns } of past.workers.values()) this.workerTurns += turns;
    this.text = past.text;
    this.usage = past.usage;
    this.#started -= past.ageMilliseconds;
  }

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }

  stopped({ reason, message: why, advice, exhausted }: Stop, cost: Cost): EventPayload {
    const isFull = (reason === StopReason.CONTEXT_EXHAUSTED || reason === StopReason.MAX_BUDGET_REACHED) && this.toolCalls > 0;
    const message = isFull ? `${why} Until then ${this.toolCalls} tool calls were made; the session's log has what came of them.` : why;
    return eventPayload("runStopped", {
      reason,
      text: this.text,
      message,
      advice,
      turns: this.turn,
      toolCalls: this.toolCalls,
      usage: this.usage,
      cost,
      exhaustedBudget: exhausted,
      durationMilliseconds: Math.round(performance.now() - this.#started),
    });
  }
}
