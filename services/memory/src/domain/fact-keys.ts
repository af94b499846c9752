import { createHash } from "node:crypto";

/** One key for texts that differ only in case, blanks and closing punctuation; numbers and negations count. 64 hex digits. */
export function textKeyOf(text: string): string {
  const normalized = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!;,]+$/u, "");
  return createHash("sha256").update(normalized).digest("hex");
}

/** The name of a slot, or an empty text where subject or predicate is missing. */
export function slotOf(subject: string, predicate: string): string {
  const parts = [subject, predicate].map((part) => part.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim());
  if (parts.includes("")) return "";
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
