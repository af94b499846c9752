import { findSecrets } from "./find-secrets.ts";

/** How much of a secret has to be seen to know it for one: a key's first characters, a signed token up to its signature. */
const LONGEST_BEGINNING = 4_096;

/**
 * The first `length` characters of a text with its secrets replaced. A secret that begins in them is replaced whole,
 * wherever it ends, so that the cut leaves no half of one.
 */
export function replaceSecrets(text: string, markOf: (kind: string) => string, length = text.length): string {
  let replaced = "";
  let at = 0;
  for (const { kind, start, end } of findSecrets(text.slice(0, length + LONGEST_BEGINNING))) {
    if (start >= length) break;
    replaced += text.slice(at, start) + markOf(kind);
    at = end;
  }
  return replaced + text.slice(at, Math.max(at, length));
}
