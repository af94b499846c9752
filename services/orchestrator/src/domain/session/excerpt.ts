const BEFORE = 40;
const LENGTH = 160;

/** A line around the first place where a text has one of the words; they are in lower case. */
export function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const from = places.length === 0 ? 0 : start;
  const line = text
    .slice(from, from + LENGTH)
    .replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${line}${from + LENGTH < text.length ? "…" : ""}`;
}
