import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";

const CONTEXT_LINES = 3;
/** Texts that differ by more have little in common that is worth finding. */
const MAXIMUM_CHANGES = 2_000;
const DEADLINE_MILLISECONDS = 200;

/**
 * What a new text changes, as lines of a unified diff without its head. Empty where nothing changes.
 * @returns undefined where they have too little in common, or it takes too long to find
 */
export function changedLines(before: string, after: string): string[] | undefined {
  const options = { context: CONTEXT_LINES, maxEditLength: MAXIMUM_CHANGES, timeout: DEADLINE_MILLISECONDS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  if (patch === undefined) return undefined;
  return patch.hunks.length === 0 ? [] : formatPatch(patch, OMIT_HEADERS).replace(/\n$/, "").split("\n");
}
