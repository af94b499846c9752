import { call } from "./call.ts";
import type { DemoCall, DemoTurn, Situation, ToolOutcome } from "./situation.ts";
import { failureLine, quote, readHits, readLines, readPaths, type Line } from "./tool-text.ts";

const LINES_BEFORE = 3;
const LINES_AFTER = 12;
const MOST_FILES = 2;
const SHOWN_HITS = 12;
const SHOWN_LINES = 20;
const SHOWN_PATHS = 20;
const DEFINITION = /\b(?:function|class|interface|type|const|let|var|def|fn|func|struct|enum|trait|message|service|CREATE TABLE)\s/;

interface Sought {
  readonly terms: readonly string[];
  readonly paths: readonly string[];
}

/** A question about something that has a name: search it, read around the best places, then answer with quotes. */
export function lookUp({ outcomes }: Situation, { terms, paths }: Sought): DemoTurn {
  if (outcomes.length === 0) {
    const searches = terms.map((pattern) => call("search_code", { pattern, literal: true, ignore_case: true, maximum_results: 50 }));
    return { text: "Searching.\n", calls: [...paths.map((path) => call("read_file", { path })), ...searches] };
  }
  const hits = bestHits(outcomes);
  const isSecond = !outcomes.some(({ tool }) => tool === "list_files" || tool === "read_file");
  if (isSecond && hits.length > 0) return { text: "Reading around what was found.\n", calls: around(hits) };
  if (isSecond)
    return {
      text: "Nothing found; looking at file names.\n",
      calls: terms.map((term) => call("list_files", { pattern: `**/*${literalGlob(term)}*`, depth: 20 })),
    };
  return { text: answer(outcomes, hits), calls: [] };
}

function literalGlob(term: string): string {
  return term.replaceAll(/[^\p{L}\p{N}_.-]/gu, "?");
}

/** Definitions before uses. */
function bestHits(outcomes: readonly ToolOutcome[]): Line[] {
  const hits = outcomes.filter(({ tool, isError }) => tool === "search_code" && !isError).flatMap(readHits);
  return hits.toSorted((one, other) => Number(DEFINITION.test(other.text)) - Number(DEFINITION.test(one.text)));
}

function around(hits: readonly Line[]): DemoCall[] {
  const firstInFile = hits.filter((hit, index) => hits.findIndex(({ path }) => path === hit.path) === index);
  return firstInFile
    .slice(0, MOST_FILES)
    .map(({ path, line }) => call("read_file", { path, start_line: Math.max(1, line - LINES_BEFORE), end_line: line + LINES_AFTER }));
}

function answer(outcomes: readonly ToolOutcome[], hits: readonly Line[]): string {
  const sections: string[] = [];
  if (hits.length > 0)
    sections.push(`Found in ${hits.length} ${hits.length === 1 ? "place" : "places"}:\n${hits.slice(0, SHOWN_HITS).map(quote).join("\n")}`);
  for (const outcome of outcomes) {
    if (outcome.isError) sections.push(failureLine(outcome));
    else if (outcome.tool === "read_file")
      sections.push(`From ${String(outcome.arguments.path)}:\n${readLines(outcome).slice(0, SHOWN_LINES).map(quote).join("\n")}`);
    else if (outcome.tool === "list_files") sections.push(pathsSection(readPaths(outcome)));
  }
  if (hits.length === 0 && outcomes.some(({ tool }) => tool === "search_code"))
    sections.unshift(`search_code found nothing for ${sought(outcomes)}.`);
  return sections.join("\n\n");
}

function pathsSection(paths: readonly string[]): string {
  if (paths.length === 0) return "No file has such a name either.";
  return `Files with such a name:\n${paths
    .slice(0, SHOWN_PATHS)
    .map((path) => `  ${path}`)
    .join("\n")}`;
}

function sought(outcomes: readonly ToolOutcome[]): string {
  return outcomes
    .filter(({ tool }) => tool === "search_code")
    .map((outcome) => `"${String(outcome.arguments.pattern)}"`)
    .join(" or ");
}
