import { secretForms } from "./secret-forms.ts";

export interface FoundSecret {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Where secrets stand in a text, in order and apart from each other. What fits two forms is of the more exact one's kind. */
export function findSecrets(text: string): FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const { kind, pattern, sign } of secretForms) {
    if (sign !== undefined && !text.includes(sign)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
      found.push({ kind, start: match.index + (match.groups?.before?.length ?? 0), end: pattern.lastIndex });
  }
  return found.length === 0 ? found : apart(found);
}

/** Joins those that overlap; the sort is stable, so that the more exact form stays first among those that begin together. */
function apart(found: FoundSecret[]): FoundSecret[] {
  const joined: FoundSecret[] = [];
  for (const secret of found.sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || secret.start >= last.end) joined.push(secret);
    else if (secret.end > last.end) joined[joined.length - 1] = { ...last, end: secret.end };
  }
  return joined;
}
