import { foldAccents } from "./terms.ts";

/** Terms of what is known about a text; no word of a text begins with these signs. */
const ACTOR = "@";
const DATE = "#";
const MONTHS = "january february march april may june july august september october november december".split(" ");
const DATES = new RegExp(
  `\\b(?:(\\d{1,2})(?:st|nd|rd|th)?(?: of)? )?(${MONTHS.map((month) => `${month}|${month.slice(0, 3)}`).join("|")})\\b(?: (\\d{1,2})(?:st|nd|rd|th)?\\b)?`,
  "giu",
);

/** Everybody whom a text may name. */
export function actorTerms(text: string): string[] {
  const words = foldAccents(text.normalize("NFKC").toLowerCase()).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].map((word) => ACTOR + word);
}

export function saidAtTerms(at: Date): string[] {
  return [`${DATE}${at.getUTCFullYear()}`, `${DATE}${MONTHS[at.getUTCMonth()]!}`, `${DATE}d${at.getUTCDate()}`];
}

/** The years, months and days that a question names. */
export function askedDateTerms(question: string): string[] {
  const found = new Set<string>();
  for (const [, year, month, day] of question.matchAll(/\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b/g))
    for (const term of [year!, MONTHS[Number(month) - 1] ?? "", `d${Number(day)}`]) found.add(term);
  for (const [year] of question.matchAll(/\b(?:19|20)\d\d\b/g)) found.add(year);
  for (const [, before, month, after] of question.matchAll(DATES)) {
    const day = before ?? after;
    // The verbs and names among them are months only beside a number, or written like one.
    if (day === undefined && !/^\p{Lu}/u.test(month!)) continue;
    found.add(MONTHS.find((name) => name.startsWith(month!.toLowerCase()))!);
    if (day !== undefined) found.add(`d${Number(day)}`);
  }
  return [...found].filter((term) => term !== "").map((term) => DATE + term);
}
