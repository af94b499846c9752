const FRONT_MATTER = /^---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)/;
const LINK = /\[\[(?<name>[^\][\n|]{1,200})(?:\|[^\][\n]{0,200})?\]\]/g;

interface PageText {
  /** Behind the front matter. */
  readonly body: string;
  /** The pages that it names in double brackets, each once. */
  readonly links: readonly string[];
}

/** What of a page of the wiki is for its readers. */
export function pageText(content: string): PageText {
  const body = content.replace(FRONT_MATTER, "");
  return { body, links: [...new Set(Array.from(body.matchAll(LINK), (match) => match.groups!.name!.trim()))] };
}
