import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Why the index gave no candidates: it is not there, takes too long, or is just being made. */
export type IndexTrouble = "away" | "busy" | "filling";

const TOLD: Readonly<Record<IndexTrouble, { readonly message: string; readonly advice: string }>> = {
  away: {
    message: "The search index (Meilisearch) does not answer.",
    advice: "Check that Meilisearch is up (`hlvm status`); the index catches up by itself when it is.",
  },
  busy: {
    message: "The search index (Meilisearch) is busy and did not answer in time.",
    advice: "Nothing needs to be done, as after a start; should it last, `hlvm status` tells whether Meilisearch is up.",
  },
  filling: {
    message: "The search index is new and is being filled.",
    advice: "Nothing needs to be done.",
  },
};

export function indexUnavailable(trouble: IndexTrouble, cause?: unknown): HlvmError {
  return new HlvmError({ code: "unavailable", reason: "index_unavailable", ...TOLD[trouble], cause });
}
