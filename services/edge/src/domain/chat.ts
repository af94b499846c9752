import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { runLine, type FinalLine, type RunLine } from "@hlvm/ndjson/run-line";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { ChatRequest } from "./chat-request.ts";

export interface StartedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** Of the run's first event. */
  readonly sequence: bigint;
}

/** Runs, as the one who asks sees them. All throw HlvmErrors. */
export interface Runs {
  start(request: ChatRequest): Promise<StartedRun>;
  /** The session's events from a sequence number on, those that are still to come included. */
  watch(sessionId: string, fromSequence: bigint, signal: AbortSignal): AsyncIterable<Event>;
  cancel(run: StartedRun): Promise<void>;
}

const RESUME_WAITS_MILLISECONDS = [100, 300, 1_000, 3_000];

/**
 * The lines of a run that has been started, ending with its final line, whatever happens: a cut watch goes on where it
 * was, and what cannot be watched any more ends with a final line that says so. When the client goes, the run is cancelled.
 */
export async function* followRun(runs: Runs, run: StartedRun, signal: AbortSignal): AsyncGenerator<RunLine, void> {
  let ended = false;
  try {
    for await (const event of events(runs, run, signal)) {
      const line = event.runId === run.runId ? runLine(event) : undefined;
      if (line === undefined) continue;
      ended = line.type === "final";
      yield line;
      if (ended) return;
    }
  } catch (cause) {
    if (signal.aborted || !(cause instanceof HlvmError)) throw cause;
    yield unwatchable(run, cause);
  } finally {
    if (!ended) await runs.cancel(run);
  }
}

async function* events(runs: Runs, run: StartedRun, signal: AbortSignal): AsyncGenerator<Event, void> {
  let next = run.sequence;
  for (let cuts = 0; ; cuts++) {
    try {
      for await (const event of runs.watch(run.sessionId, next, signal)) {
        yield event;
        next = event.sequence + 1n;
        cuts = 0;
      }
      throw new HlvmError({ code: "unavailable", reason: "watch_ended", message: "The events of the run ended before the run did." });
    } catch (cause) {
      const wait = RESUME_WAITS_MILLISECONDS[cuts];
      if (signal.aborted || wait === undefined || !(cause instanceof HlvmError) || cause.code !== "unavailable") throw cause;
      await sleep(wait, undefined, { signal });
    }
  }
}

function unwatchable(run: StartedRun, cause: HlvmError): FinalLine {
  return {
    type: "final",
    session_id: run.sessionId,
    run_id: run.runId,
    stop_reason: "error",
    text: "",
    message: cause.message,
    advice: cause.advice,
    turns: 0,
    tool_calls: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
    duration_ms: 0,
    cost: { nano_dollars: 0, unpriced_calls: 0 },
  };
}
