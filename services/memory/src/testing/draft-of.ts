import type { FactDraft } from "../domain/write-fact.ts";

/** What a person states, with nothing said about it but what is given. */
export function draftOf(text: string, draft: Partial<FactDraft> = {}): FactDraft {
  return {
    text,
    category: "",
    type: undefined,
    scope: undefined,
    origin: "user-stated",
    subject: "",
    predicate: "",
    tags: [],
    pinned: false,
    sourceSessionId: "",
    ...draft,
  };
}
