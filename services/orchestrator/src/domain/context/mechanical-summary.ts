import { cutText } from "../fold/cut-text.ts";
import { partText } from "./part-text.ts";
import type { ContextUnit } from "./plan-compaction.ts";

const LINE_LENGTH = 160;
const SHARES = { former: 0.35, said: 0.25, asked: 0.15 };

/**
 * A summary without a model: what was asked, what was called and how it ended, and what the model said last, in at most so
 * many characters. The latest calls are named first to last; those before them are counted.
 */
export function mechanicalSummary(units: readonly ContextUnit[], formerSummary: string, length: number): string {
  const asked = units.filter(({ isTurn }) => !isTurn).map((unit) => oneLine(lastText(unit)));
  const said =
    units
      .filter(({ isTurn }) => isTurn)
      .map(lastText)
      .findLast((text) => text !== "") ?? "";
  const sections = [
    section("Before that", formerSummary, length * SHARES.former),
    section("People asked", asked.map((text) => `- ${text}`).join("\n"), length * SHARES.asked),
    section("The model said last", said, length * SHARES.said),
  ];
  const left = length - sections.join("\n\n").length;
  return [...sections, calls(units, left)].filter((text) => text !== "").join("\n\n");
}

function calls(units: readonly ContextUnit[], length: number): string {
  const all = units.flatMap(({ parts }) =>
    parts.flatMap(({ part, provenance: { result, sequence } }) => {
      if (part.part.case !== "toolResult" || result === undefined) return [];
      const outcome = part.part.value.isError ? "failed" : "done";
      return [`- ${result.tool} ${result.argumentsSummary}: ${outcome} (result ${sequence})`];
    }),
  );
  const shown: string[] = [];
  let left = length - LINE_LENGTH;
  for (const line of all.toReversed()) {
    left -= line.length + 1;
    if (left < 0) break;
    shown.unshift(line);
  }
  if (shown.length === 0) return "";
  const more = all.length - shown.length;
  return `Calls that were made${more === 0 ? "" : `, after ${more} earlier ones`}:\n${shown.join("\n")}`;
}

function section(title: string, text: string, length: number): string {
  return text === "" || length < title.length * 2 ? "" : `${title}:\n${cutText(text, Math.floor(length))}`;
}

function lastText({ parts }: ContextUnit): string {
  const found = parts.findLast(({ part }) => part.part.case === "text");
  return found === undefined ? "" : partText(found.part);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH - 1)}…`.toWellFormed();
}
