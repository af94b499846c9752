import type { Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { WikiPage } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { guarded } from "./projection.ts";

/**
 * A project's pages as files, and MEMORY.md, which lists them and what is pinned for the project.
 * @param facts of the project alone: what is a person's own is nobody else's business
 */
export function wikiFiles(pages: readonly WikiPage[], facts: readonly Fact[]): Map<string, string> {
  const files = new Map(
    pages.map(({ name, number, content }) => [
      `wiki/${name}.md`,
      guarded(content, `page ${name}, revision ${number}; change it by hlvm memory wiki write ${name}`),
    ]),
  );
  const index = ["# Memory", "", "What this project remembers. This file is written by HLVM; changes to it are lost."];
  if (facts.length > 0) index.push("", "## Pinned", "", ...facts.map(({ text }) => `- ${oneLine(text)}`));
  if (pages.length > 0) index.push("", "## Pages", "", ...pages.map(lineOf));
  files.set("MEMORY.md", guarded(index.join("\n"), "change it by hlvm memory pin and hlvm memory wiki write"));
  return files;
}

function lineOf({ name, title, summary }: WikiPage): string {
  const label = oneLine(title).replace(/[[\]\\]/g, "\\$&");
  return `- [${label}](wiki/${name}.md)${summary === "" ? "" : `: ${oneLine(summary)}`}`;
}

/** Nothing in it ends the list, or begins a guard. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("<!--", "‹!--");
}
