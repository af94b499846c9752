import { findProviderKeys } from "./provider-keys.ts";
import { secretForms } from "./secret-forms.ts";
import type { SecretForm } from "./secret-form.ts";

export interface FoundSecret {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Where secrets stand in a text, in order and apart from each other. What fits two forms is of the more exact one's kind. */
export function findSecrets(text: string): FoundSecret[] {
  const found = secretForms.flatMap((form) => (form.sign === undefined || text.includes(form.sign) ? findForm(form, text) : []));
  found.push(...findProviderKeys(text));
  return found.length === 0 ? found : apart(found);
}

function findForm({ kind, pattern, rest, accept }: SecretForm, text: string): FoundSecret[] {
  const found: FoundSecret[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const start = match.index + (match.groups?.before?.length ?? 0);
    if (accept !== undefined && !accept(match, text)) {
      // What is no secret may have the name of one in it.
      pattern.lastIndex = Math.max(start, match.index + 1);
      continue;
    }
    if (rest !== undefined) {
      rest.lastIndex = pattern.lastIndex;
      pattern.lastIndex += rest.exec(text)![0].length;
    }
    found.push({ kind: typeof kind === "string" ? kind : kind(match.groups!), start, end: pattern.lastIndex });
  }
  return found;
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
