import { ModelError } from "../../domain/model-error.ts";
import { LLAMA } from "./provider-name.ts";

/** @param problem of looking them up */
export function noServers(problem: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "no_servers",
    message: `There is no llama-server${problem === "" ? "" : `: ${problem}`}.`,
    advice: "Look at what HLVM_LLAMA_URLS and HLVM_LLAMA_URLS_FILE name.",
    provider: LLAMA,
  });
}

export function drained(model: string, why: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "servers_drained",
    message: `Every llama-server with ${LLAMA}/${model} was taken out of use: ${why}.`,
    advice: "`hlvm model pool` shows them, and `hlvm model pool resume URL` takes one in again.",
    provider: LLAMA,
  });
}

/** All of them belong to other gateways: waiting would not help. */
export function noSlots(model: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "no_slots",
    message: `No slot of a llama-server with ${LLAMA}/${model} belongs to this gateway.`,
    advice: "Give the servers more slots (--parallel), at least one for each of the gateways that HLVM_LLAMA_REPLICAS counts.",
    provider: LLAMA,
  });
}

export function queueFull(longest: number): ModelError {
  return new ModelError({
    class: "rate_limit",
    reason: "queue_full",
    message: `${longest} requests wait for a llama-server already.`,
    advice: "Ask again later, or give HLVM_LLAMA_URLS more servers.",
    provider: LLAMA,
  });
}

/** @param names of the models that are served */
export function notServed(model: string, names: ReadonlySet<string>): ModelError {
  return new ModelError({
    class: "permanent",
    code: "not_found",
    reason: "model_not_found",
    message: `No llama-server serves ${LLAMA}/${model}.`,
    advice: `They serve: ${[...names].map((name) => `${LLAMA}/${name}`).join(", ") || "no model"}.`,
    provider: LLAMA,
  });
}
