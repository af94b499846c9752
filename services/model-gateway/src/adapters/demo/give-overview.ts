import { call } from "./call.ts";
import type { DemoCall, DemoTurn, Situation, ToolOutcome } from "./situation.ts";
import { failureLine, head, quote, readHits, readLines, readPaths, type Line } from "./tool-text.ts";

/** Files that say what a project is, the most telling first. */
const TELLING = [
  /^readme(?:\.\w+)?$/i,
  /^(?:package\.json|cargo\.toml|pyproject\.toml|go\.mod|pom\.xml|build\.gradle|composer\.json|gemfile|cmakelists\.txt|setup\.py)$/i,
  /^(?:makefile|dockerfile|justfile)$/i,
  /^(?:index|main|app)\.\w+$/i,
  /\.(?:md|txt|rst)$/i,
  /\.(?:[cm]?[jt]sx?|py|rs|go|java|rb|c|h|cc|cpp|cs|php|swift|kt|sh|sql|ya?ml|toml|json|html|css)$/i,
];
const MOST_FILES = 2;
const ENTRY_POINT = String.raw`^\s*(export |pub |public |static |async |default )*(function|func|fn|def|int|void) (main|start|run|serve)\b`;
const SHOWN_ENTRIES = 20;
const SHOWN_QUOTES = 6;

/** What a repository is: look around, then read what tells most, then answer with quotes. */
export function giveOverview(situation: Situation, words: readonly string[]): DemoTurn {
  const { outcomes } = situation;
  if (outcomes.length === 0) {
    const looking = [call("list_files", { depth: 2 }), call("git_status", {}), call("git_log", { limit: 5 })];
    return { text: "Looking at the files and the history.\n", calls: looking };
  }
  const hasRead = outcomes.some(({ tool }) => tool === "read_file" || tool === "file_stats" || tool === "search_code");
  if (!hasRead) return { text: "Reading what tells most.\n", calls: reading(outcomes, words) };
  return { text: answer(outcomes), calls: [] };
}

function reading(outcomes: readonly ToolOutcome[], words: readonly string[]): DemoCall[] {
  const listed = outcomes.find(({ tool, isError }) => tool === "list_files" && !isError);
  const files = listed === undefined ? [] : mostTelling(readPaths(listed));
  const calls = files.map((path) => call("read_file", { path }));
  const [word] = words;
  if (word !== undefined) calls.push(call("search_code", { pattern: word, literal: true, ignore_case: true, maximum_results: 20 }));
  else if (files.length > 0) calls.push(call("search_code", { pattern: ENTRY_POINT, maximum_results: 20 }));
  // Without history or files there is still the folder itself to tell about.
  if (files.length === 0 || outcomes.some(({ tool, isError }) => tool.startsWith("git_") && isError))
    calls.push(call("file_stats", { path: "." }));
  return calls;
}

function mostTelling(paths: readonly string[]): string[] {
  const rank = (path: string): number => {
    const kind = TELLING.findIndex((pattern) => pattern.test(path.slice(path.lastIndexOf("/") + 1)));
    return kind === -1 ? Number.POSITIVE_INFINITY : kind + TELLING.length * (path.split("/").length - 1);
  };
  const files = paths.filter((path) => !path.endsWith("/") && rank(path) !== Number.POSITIVE_INFINITY);
  return files.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_FILES);
}

function answer(outcomes: readonly ToolOutcome[]): string {
  const sections = outcomes.map((outcome) => (outcome.isError ? failureLine(outcome) : section(outcome)));
  const order = ["read_file", "list_files", "search_code", "git_log", "git_status", "file_stats"];
  const sorted = outcomes
    .map(({ tool }, index) => ({ rank: order.indexOf(tool), text: sections[index]! }))
    .toSorted((one, other) => one.rank - other.rank);
  return `What the tools found here:\n\n${sorted.map(({ text }) => text).join("\n\n")}`;
}

function section(outcome: ToolOutcome): string {
  switch (outcome.tool) {
    case "read_file":
      return readSection(outcome);
    case "list_files":
      return listSection(readPaths(outcome));
    case "search_code": {
      const hits = readHits(outcome).slice(0, SHOWN_QUOTES);
      const what = outcome.arguments.pattern === ENTRY_POINT ? "Where it may start" : `Where "${String(outcome.arguments.pattern)}" stands`;
      return hits.length === 0 ? `${what}: search_code found no place.` : `${what}:\n${hits.map(quote).join("\n")}`;
    }
    case "git_log":
      return `The latest commits:\n${head(outcome.content, SHOWN_QUOTES)}`;
    case "git_status":
      return `The state of the working tree:\n${head(outcome.content, SHOWN_QUOTES)}`;
    default:
      return `${outcome.tool} of ${String(outcome.arguments.path ?? ".")}:\n${head(outcome.content, SHOWN_QUOTES)}`;
  }
}

function listSection(paths: readonly string[]): string {
  if (paths.length === 0) return "The folder holds no files.";
  const top = [...new Set(paths.map((path) => /^[^/]+\/?/.exec(path)?.[0] ?? path))];
  const more = top.length > SHOWN_ENTRIES ? ` and ${top.length - SHOWN_ENTRIES} more` : "";
  return `At the top: ${top.slice(0, SHOWN_ENTRIES).join(", ")}${more}.`;
}

function readSection(outcome: ToolOutcome): string {
  const path = String(outcome.arguments.path);
  const lines = readLines(outcome).filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const telling = path.endsWith(".json") ? manifestLines(lines) : lines;
  const quoted = (telling.length > 0 ? telling : lines).slice(0, SHOWN_QUOTES);
  return quoted.length === 0 ? `${path} holds no text.` : `${path} begins:\n${quoted.map(quote).join("\n")}`;
}

function manifestLines(lines: readonly Line[]): Line[] {
  return lines.filter(({ text }) => /"(?:name|description|version|main|bin|start|test|build|workspaces)"\s*:/.test(text));
}
