import type { ChangedFile } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { shownCode } from "../../parts/shown-text.ts";
import { textHunks, type Hunk } from "../../parts/text-hunks.ts";

export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  /** Why there are no lines; empty where there are. */
  readonly note: string;
}

const MOST_BYTES = 512 * 1024;

/** A changed file as lines of before and after, what cannot be seen in them shown as what it is. */
export function diffOf({ path, before, after }: ChangedFile): FileDiff {
  const name = shownCode(new TextDecoder().decode(path));
  const [old, fresh] = [before, after].map((content) => textOf(content?.bytes ?? new Uint8Array()));
  const none = { path: name, added: 0, removed: 0, hunks: [] };
  if (old === undefined || fresh === undefined) return { ...none, note: "Not text, or too large to be shown here." };
  const hunks = textHunks(old, fresh);
  const count = (sign: string): number => hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0);
  const note =
    hunks.length > 0
      ? ""
      : before === undefined
        ? "A new, empty file."
        : after === undefined
          ? "An empty file was removed."
          : "Only its mode changed.";
  return { path: name, added: count("+"), removed: count("-"), hunks, note };
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MOST_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
