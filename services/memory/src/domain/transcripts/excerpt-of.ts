const EXCERPT_CHARACTERS = 600;

/** The part of a text around the first of the question's longer words. */
export function excerptOf(text: string, query: string): string {
  if (text.length <= EXCERPT_CHARACTERS) return text;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(Math.min(...places, text.length) - EXCERPT_CHARACTERS / 4, text.length - EXCERPT_CHARACTERS));
  const from = places.length === 0 ? 0 : start;
  const part = text.slice(from, from + EXCERPT_CHARACTERS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + EXCERPT_CHARACTERS < text.length ? "…" : ""}`;
}
