import { foldAccents } from "../search/terms.ts";

/** One key for a name however it is written: case, accents and blanks do not count. */
export function entityKey(name: string): string {
  return foldAccents(name.normalize("NFKC").toLowerCase()).replace(/\s+/gu, " ").trim();
}
