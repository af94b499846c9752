import type { ModelError } from "./model-error.ts";

/** Of those that no retry helps: what another model, with another key or at another server, may not meet with. */
const OF_THE_PROVIDER = new Set(["key_refused", "quota_spent", "not_permitted", "model_not_found", "not_a_stream", "redirected"]);

/**
 * Whether a model is not there to answer, whatever it is asked. A refusal, too long a context and a request that is wrong are no such
 * failures: they are answers, and another model would hide them.
 */
export function isHardFailure({ class: kind, reason }: ModelError): boolean {
  if (kind === "transient" || kind === "rate_limit" || kind === "timeout") return true;
  return kind === "permanent" && OF_THE_PROVIDER.has(reason);
}
