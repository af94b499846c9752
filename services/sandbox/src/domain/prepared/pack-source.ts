import type { GitSource } from "./git-source.ts";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PackFacts, TakePack } from "./prepared-folders.ts";

/** Enough to see why a line is as it is; a whole history may be many times as large as the files. */
export const COMMITS_FETCHED = 50;

export interface PackFetch {
  readonly sessionId: string;
  readonly source: GitSource;
  readonly take: TakePack;
  /** What is going on, in words. */
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Gets the newest commits of a repository. @throws HlvmError */
export type FetchPack = (fetch: PackFetch) => Promise<PackFacts>;

export function referenceNotFound({ url, ref }: GitSource): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: ref === "" ? "repository_empty" : "reference_not_found",
    message:
      ref === "" ? `The repository ${url.pathname} has no commit.` : `The repository ${url.pathname} has no branch, tag or commit ${ref}.`,
    advice: ref === "" ? "Commit something first." : "`git ls-remote URL` lists what there is. A commit is given by its whole id.",
  });
}
