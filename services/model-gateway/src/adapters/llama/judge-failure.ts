import { ModelError } from "../../domain/model-error.ts";
import type { LlamaInstance } from "./llama-instance.ts";
import { LLAMA } from "./provider-name.ts";
import { CROSS_TALK } from "./one-answer.ts";
import type { Lease } from "./slot-group.ts";

const DOWN = new Set(["provider_unreachable", "connection_lost"]);
/** What llama-server answers where the model wrote a tool call that its template's parser cannot read. */
const UNPARSABLE_OUTPUT = /failed to parse input/i;
/** A context size in llama-server's refusal: "the available context size (8192 tokens)". */
const CONTEXT_SIZE = /context size \((\d+)/i;

/** What a failure says of the server, and what it is called. */
export function judged(thrown: unknown, { group, spokeAt }: Lease): unknown {
  if (!(thrown instanceof ModelError)) return thrown;
  if (UNPARSABLE_OUTPUT.test(thrown.message)) return unparsableOutput(thrown);
  // A server may end an idle connection just as it is used again: what it says of itself then decides.
  if (thrown.reason === "connection_lost" && spokeAt === undefined) group.instance.doubt();
  else if (DOWN.has(thrown.reason)) group.instance.doubt(thrown);
  if (thrown.reason === CROSS_TALK) distrust(group.instance, "it went on with the answer to another request");
  if (thrown.class === "context_overflow") {
    group.provenWindow = Math.min(group.provenWindow, Number(CONTEXT_SIZE.exec(thrown.message)?.[1] ?? Number.POSITIVE_INFINITY));
    group.instance.doubt();
  }
  return thrown;
}

/** Nobody's conversation goes there before a person has looked at it. */
export function distrust(instance: LlamaInstance, what: string): void {
  const why = `it mixes conversations up: ${what}; start it with --cache-ram 0 --no-cache-idle-slots, then resume it`;
  instance.drain = { kind: "distrusted", why, since: new Date() };
  instance.lastError = what;
}

function unparsableOutput(cause: ModelError): ModelError {
  return new ModelError({
    class: "transient",
    reason: "model_output_unparsable",
    message: `${LLAMA}'s model wrote what its own template cannot read: ${cause.message}`,
    advice: "Ask again; if it stays, take another model with --model, or give the server another --chat-template.",
    provider: LLAMA,
    providerCode: cause.providerCode,
    cause,
  });
}
