import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SessionSandbox } from "./session-sandbox.ts";

const CONTEXT_LINES = 3;
/** Texts that differ by more have little in common that is worth finding. */
const MAXIMUM_CHANGES = 2_000;
const DEADLINE_MILLISECONDS = 200;
const MAXIMUM_CHARACTERS = 256 * 1024;

export interface CallPreview {
  /** Of the file that the call would write; empty where there is none. */
  readonly presentSha256: string;
  readonly presentBytes: bigint;
  /** The hunks of a unified diff; empty where what changes is not told. */
  readonly diff: string;
}

/** What a call of a file tool would change, as the files are now. @throws HlvmError `not_previewed` where the call would fail, or is of another tool */
export async function previewCall(sandbox: Pick<SessionSandbox, "preview">, tool: string, argumentsJson: string): Promise<CallPreview> {
  const { failure, presentSha256, presentBytes, before, after } = await sandbox.preview(tool, argumentsJson);
  if (failure !== "")
    throw new HlvmError({
      code: "failed_precondition",
      reason: "not_previewed",
      message: `What the call would change cannot be told: ${failure}`,
      advice: "Look at its arguments.",
    });
  return { presentSha256, presentBytes, diff: before === undefined || after === undefined ? "" : diffOf(before, after) };
}

function diffOf(before: string, after: string): string {
  const options = { context: CONTEXT_LINES, maxEditLength: MAXIMUM_CHANGES, timeout: DEADLINE_MILLISECONDS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  if (patch === undefined || patch.hunks.length === 0) return "";
  const text = formatPatch(patch, OMIT_HEADERS).replace(/\n$/, "");
  // What has a NUL in it is no text that a database keeps.
  return text.length > MAXIMUM_CHARACTERS || text.includes("\0") ? "" : text;
}
