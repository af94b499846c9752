import { messageOf } from "@hlvm/errors/message-of";
import { ModelError } from "./model-error.ts";
import type { Target } from "./target.ts";
import type { TimeLimit } from "./time-limit.ts";

/** Why a call ended: its caller, its time limit, or what was thrown. */
export function endedBy(provider: string, thrown: unknown, { caller, exceeded }: TimeLimit): ModelError {
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

/** @param limit milliseconds */
export function tooLong(provider: string, limit: number): ModelError {
  return new ModelError({
    class: "timeout",
    reason: "model_too_slow",
    message: `${provider} did not finish its answer within ${Math.round(limit / 1000)} s.`,
    advice: "Ask for less at once, or take a faster model with --model.",
    provider,
  });
}

/** Its circuit breaker is open. */
export function resting({ providerName, name }: Pick<Target, "providerName" | "name">, retryAfterMilliseconds: number): ModelError {
  return new ModelError({
    class: "transient",
    reason: "circuit_open",
    message: `${providerName}/${name} has failed again and again, and is not asked for ${Math.ceil(retryAfterMilliseconds / 1000)} s.`,
    advice: "Ask again in a little while, or take another model with --model.",
    provider: providerName,
    retryAfterMilliseconds,
  });
}

/** The failure of the model that was asked, and what the others of its route said. */
export function together([first, ...others]: readonly ModelError[]): ModelError {
  if (first === undefined || others.length === 0) return first!;
  return new ModelError({
    class: first.class,
    code: first.code,
    reason: first.reason,
    message: `${first.message} Nor did another model of its route answer: ${others.map(({ message }) => message).join(" ")}`,
    advice: first.advice,
    provider: first.provider,
    providerCode: first.providerCode,
    retryAfterMilliseconds: first.retryAfterMilliseconds,
    cause: others.at(-1),
  });
}
