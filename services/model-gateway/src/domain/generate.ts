import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import { fitDelta } from "./answer-length.ts";
import { believableUsage } from "./believable-usage.ts";
import type { Delta, Finish, Generation, Told } from "./generation.ts";
import { ModelError } from "./model-error.ts";
import type { Provider } from "./provider.ts";
import { Heartbeats } from "./heartbeats.ts";
import { TimeLimit } from "./time-limit.ts";

const MAXIMUM_ATTEMPTS = 3;
const FIRST_BACKOFF_MILLISECONDS = 500;
/** A provider that asks for a longer wait than this is told to the caller at once. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
/** 300 s proved too short in the field. */
const LONGEST_CALL_MILLISECONDS = 900_000;
const SIGN_MILLISECONDS = 1_000;

export interface Retry {
  readonly attempt: number;
  readonly waitMilliseconds: number;
  readonly error: ModelError;
}

export interface GenerateOptions {
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** What the caller's deadline leaves; undefined where it set none. */
  readonly remainingMilliseconds: number | undefined;
  readonly onRetry: (retry: Retry) => void;
}

/**
 * One answer of a model as deltas, `usage` and `finish` last; in their pauses its caller hears that it goes on. A failure
 * that may pass is tried again, up to three times and within the caller's deadline, as long as nothing of an answer has
 * come; after that every failure is the caller's.
 * @throws ModelError
 */
export function generate(name: string, provider: Provider, generation: Generation, options: GenerateOptions): AsyncGenerator<Told, void> {
  const heartbeats = new Heartbeats();
  return heartbeats.among(attempts(name, provider, generation, options, heartbeats.heard));
}

async function* attempts(
  name: string,
  provider: Provider,
  generation: Generation,
  options: GenerateOptions,
  heard: () => void,
): AsyncGenerator<Delta, void> {
  const milliseconds = Math.min(options.remainingMilliseconds ?? LONGEST_CALL_MILLISECONDS, LONGEST_CALL_MILLISECONDS);
  const deadline = performance.now() + milliseconds;
  const limit = new TimeLimit(options.signal, milliseconds, () => tooLong(name, milliseconds));
  try {
    for (let attempt = 1; ; attempt++) {
      const progress = { hasContent: false };
      try {
        yield* attemptOnce(name, provider.generate(generation, limit.signal, heard), progress);
        return;
      } catch (thrown) {
        const error = endedBy(name, thrown, limit);
        const wait = waitBefore(attempt, error);
        if (progress.hasContent || !error.isRetried || attempt === MAXIMUM_ATTEMPTS) throw error;
        if (wait > LONGEST_WAIT_MILLISECONDS || performance.now() + wait >= deadline) throw error;
        options.onRetry({ attempt, waitMilliseconds: wait, error });
        await waitAloud(wait, limit.signal, heard).catch(() => {
          throw endedBy(name, error, limit);
        });
      }
    }
  } finally {
    limit.close();
  }
}

async function waitAloud(milliseconds: number, signal: AbortSignal, heard: () => void): Promise<void> {
  const heartbeats = setInterval(heard, SIGN_MILLISECONDS);
  try {
    await sleep(milliseconds, undefined, { signal });
  } finally {
    clearInterval(heartbeats);
  }
}

async function* attemptOnce(name: string, deltas: AsyncIterable<Delta>, progress: { hasContent: boolean }): AsyncGenerator<Delta, void> {
  let usage: Delta | undefined;
  let finish: Finish | undefined;
  let hasToolCalls = false;
  for await (const delta of deltas) {
    if (delta.kind === "usage") usage = believableUsage(delta) && delta;
    else if (delta.kind === "finish") finish = delta;
    else {
      progress.hasContent = true;
      hasToolCalls ||= delta.kind === "tool-call";
      yield* fitDelta(name, delta);
    }
  }
  if (finish === undefined) throw cut(name);
  if (!progress.hasContent && finish.reason !== "refusal" && finish.reason !== "length") throw empty(name);
  if (usage !== undefined) yield usage;
  yield { kind: "finish", reason: agreed(finish.reason, hasToolCalls), detail: finish.detail };
}

/** Servers differ in what they call the end of an answer that asks for tools. */
function agreed(reason: Finish["reason"], hasToolCalls: boolean): Finish["reason"] {
  if (reason !== "stop" && reason !== "tool-calls") return reason;
  return hasToolCalls ? "tool-calls" : "stop";
}

/** Full jitter: anything between nothing and the doubled backoff; never less than the provider asks for. */
function waitBefore(attempt: number, error: ModelError): number {
  return Math.max(error.retryAfterMilliseconds, Math.random() * FIRST_BACKOFF_MILLISECONDS * 2 ** (attempt - 1));
}

function endedBy(provider: string, thrown: unknown, { caller, exceeded }: TimeLimit): ModelError {
  if (caller.aborted)
    return new ModelError({ class: "abort", reason: "cancelled", message: "The call was cancelled.", advice: "", provider, cause: thrown });
  if (exceeded !== undefined) return exceeded;
  if (thrown instanceof ModelError) return thrown;
  return new ModelError({
    class: "unknown",
    reason: "model_failed",
    message: `The answer of ${provider} could not be read: ${messageOf(thrown)}.`,
    advice: "Try again; if it stays, take another model with --model and report this one.",
    provider,
    cause: thrown,
  });
}

function tooLong(provider: string, limit: number): ModelError {
  return new ModelError({
    class: "timeout",
    reason: "model_too_slow",
    message: `${provider} did not finish its answer within ${Math.round(limit / 1000)} s.`,
    advice: "Ask for less at once, or take a faster model with --model.",
    provider,
  });
}

function cut(provider: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "stream_cut",
    message: `The answer of ${provider} broke off before its end.`,
    advice: "Ask again; what was shown so far is not the whole answer.",
    provider,
  });
}

function empty(provider: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "empty_answer",
    message: `${provider} ended its answer without a word.`,
    advice: "Ask again, in other words if it stays.",
    provider,
  });
}
