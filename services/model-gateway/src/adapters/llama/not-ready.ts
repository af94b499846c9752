import { ModelError } from "../../domain/model-error.ts";
import { LLAMA } from "./provider-name.ts";

export const STARTING = "server_starting";
export const SILENT = "server_silent";

/** @param askAgainMilliseconds when it is asked again */
export function starting(server: string, askAgainMilliseconds: number): ModelError {
  return new ModelError({
    class: "transient",
    reason: STARTING,
    message: `${server} is loading its model.`,
    advice: "Ask again in a little while.",
    provider: LLAMA,
    retryAfterMilliseconds: askAgainMilliseconds,
  });
}

/** It hangs, or the machine is busy: unlike an answer that takes too long, the request may be made again. */
export function silent(server: string, afterMilliseconds: number, askAgainMilliseconds: number): ModelError {
  return new ModelError({
    class: "transient",
    reason: SILENT,
    message: `${server} did not say within ${afterMilliseconds / 1_000} s whether it is well.`,
    advice: "Ask again in a little while; if it stays, look at its log.",
    provider: LLAMA,
    retryAfterMilliseconds: askAgainMilliseconds,
  });
}
