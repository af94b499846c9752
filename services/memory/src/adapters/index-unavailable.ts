import { HlvmError } from "@hlvm/errors/hlvm-error";

export function indexUnavailable(cause?: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "index_unavailable",
    message: "The search index (Meilisearch) does not answer.",
    advice: "Check that Meilisearch is up (`hlvm status`); the index catches up by itself when it is.",
    cause,
  });
}
