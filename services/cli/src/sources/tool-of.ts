import { HlvmError } from "@hlvm/errors/hlvm-error";
import { genericTurns } from "@hlvm/transcripts/generic-turns";
import type { TurnReader } from "@hlvm/transcripts/read-turn";
import { TRANSCRIPT_TOOLS } from "@hlvm/transcripts/transcript-tools";
import type { Source } from "./source-book.ts";

/** How a source's files are found and read. @throws HlvmError `source_unsupported` */
export function toolOf({ tool, fields }: Pick<Source, "tool" | "fields">): { readonly files: RegExp; readonly read: TurnReader } {
  if (fields !== undefined) return { files: /\.(?:jsonl|ndjson)$/, read: genericTurns(fields) };
  const known = TRANSCRIPT_TOOLS.find(({ name }) => name === tool);
  if (known !== undefined) return { files: known.files, read: known.read };
  throw new HlvmError({
    code: "failed_precondition",
    reason: "source_unsupported",
    message: `HLVM does not know how ${tool} keeps its sessions.`,
    advice: `Known are ${TRANSCRIPT_TOOLS.map(({ name }) => name).join(", ")}; for JSON lines of others say --folder and --text-field.`,
  });
}
