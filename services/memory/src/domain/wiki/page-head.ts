import { HlvmError } from "@hlvm/errors/hlvm-error";
import { parseDocument } from "yaml";
import type { PageHead } from "./wiki-store.ts";

const FRONT_MATTER = /^---[ \t]*\r?\n(?<yaml>(?:[^\n]*\n)*?)---[ \t]*(?:\r?\n|$)/;
const MAXIMUM_FRONT_MATTER = 8_192;
const MAXIMUM = { title: 200, summary: 500, tag: 64, tags: 32 } as const;

export type ParsedPage = PageHead & {
  readonly hasFrontMatter: boolean;
  /** Behind the front matter. */
  readonly body: string;
};

/**
 * What a page's front matter says of it: title, summary and tags; further entries are the writer's own. Without a title it is the first
 * heading, or the name.
 * @throws HlvmError `wiki_front_matter_malformed`
 */
export function parsePage(name: string, content: string): ParsedPage {
  const matter = FRONT_MATTER.exec(content.slice(0, MAXIMUM_FRONT_MATTER + 8));
  if (matter === null && /^---[ \t]*\r?\n/.test(content))
    throw malformed(name, `it does not end within ${MAXIMUM_FRONT_MATTER} characters`);
  const body = matter === null ? content : content.slice(matter[0].length);
  const entries = matter === null ? {} : entriesOf(name, matter.groups!.yaml!);
  const heading = /^#{1,6}[ \t]+(?<text>\S.*?)[ \t#]*$/m.exec(body)?.groups?.text ?? "";
  return {
    title: lineOf(name, entries, "title") || heading.slice(0, MAXIMUM.title).toWellFormed() || name,
    summary: lineOf(name, entries, "summary"),
    tags: tagsOf(name, entries.tags),
    hasFrontMatter: matter !== null,
    body,
  };
}

function entriesOf(name: string, yaml: string): Readonly<Record<string, unknown>> {
  const document = parseDocument(yaml, { schema: "core", logLevel: "silent" });
  if (document.errors.length > 0) throw malformed(name, document.errors[0]!.message.split("\n", 1)[0]!);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw malformed(name, "it has aliases", cause);
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw malformed(name, "it is no list of entries such as `title: …`");
  return value as Readonly<Record<string, unknown>>;
}

function lineOf(name: string, entries: Readonly<Record<string, unknown>>, key: "title" | "summary"): string {
  const value = entries[key] ?? "";
  if (typeof value !== "string") throw malformed(name, `${key} is no text`);
  const line = value.replace(/\s+/g, " ").trim();
  if (line.length > MAXIMUM[key]) throw malformed(name, `${key} has more than ${MAXIMUM[key]} characters`);
  return line;
}

function tagsOf(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const tags: unknown[] = Array.isArray(value) ? value : [value];
  if (tags.length > MAXIMUM.tags || !tags.every((tag) => typeof tag === "string" && tag !== "" && tag.length <= MAXIMUM.tag))
    throw malformed(name, `tags are at most ${MAXIMUM.tags} words of at most ${MAXIMUM.tag} characters`);
  return tags as string[];
}

function malformed(name: string, what: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "wiki_front_matter_malformed",
    message: `The front matter of ${name} cannot be read: ${what}.`,
    advice: "Begin the page with three hyphens, lines such as `title: Roll back a deployment`, and three hyphens again; or leave it out.",
    cause,
  });
}
