import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { parseTime } from "@hlvm/ndjson/parse-time";
import { FactOrigin, FactScope, FactType, type FactFilterSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { factOriginWords, factScopeWords, factTypeWords } from "@hlvm/proto/hlvm/memory/v1/memory_words";
import { shellWord } from "../../parts/shell-word.ts";

export const MEMORY_VIEWS = {
  live: "Live",
  pulse: "Pulse",
  river: "River",
  search: "Search",
  facts: "Facts",
  inbox: "Inbox",
  sources: "Sources",
  thread: "Thread",
  recall: "Recall",
  wiki: "Wiki",
} as const;
export type MemoryView = keyof typeof MEMORY_VIEWS;

/** By what facts are narrowed, under the names that the flags of `hlvm memory` have; the words that each may be, where there are some. */
export const FACT_FILTERS = {
  scope: factScopeWords,
  origin: factOriginWords,
  type: factTypeWords,
  category: [],
  by: [],
  since: [],
  until: [],
} as const;
export type FactFilterName = keyof typeof FACT_FILTERS;
/** Without those that an address has and that are no such thing. */
export type MemoryQuestion = Readonly<Partial<Record<FactFilterName, string>>>;

export function viewOfAddress(view: string | undefined): MemoryView {
  return view !== undefined && Object.hasOwn(MEMORY_VIEWS, view) ? (view as MemoryView) : "live";
}

export function questionOfAddress(search: URLSearchParams): MemoryQuestion {
  const names = Object.keys(FACT_FILTERS) as FactFilterName[];
  return Object.fromEntries(
    names.map((name) => [name, search.get(name) ?? ""]).filter(([name, value]) => fits(name as FactFilterName, value!)),
  );
}

/** What else stands in the address, such as the folder and the opened fact, stays; an empty value takes its name out. */
export function addressWith(changes: Readonly<Record<string, string>>, before: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes))
    // The folder is empty on purpose where it is "of no folder".
    if (value === "" && name !== "project") search.delete(name);
    else search.set(name, value);
  return search;
}

export function filterOf(question: MemoryQuestion, project: string): MessageInitShape<typeof FactFilterSchema> {
  const { scope, origin, type, category, by, since, until } = question;
  const [from, to] = [since, until].map((text) => (text === undefined ? undefined : parseTime(text, new Date())));
  return {
    project,
    scope: scope === undefined ? undefined : FactScope[scope.toUpperCase() as keyof typeof FactScope],
    origin: origin === undefined ? undefined : FactOrigin[origin.toUpperCase() as keyof typeof FactOrigin],
    type: type === undefined ? undefined : FactType[type.toUpperCase() as keyof typeof FactType],
    category,
    principal: by === undefined || by.includes(":") ? by : `user:${by}`,
    since: from && timestampFromDate(from),
    until: to && timestampFromDate(to),
  };
}

/** The same to `hlvm memory`. */
export function flagsOf(question: MemoryQuestion): string {
  return Object.entries(question)
    .map(([name, value]) => ` --${name} ${shellWord(name === "by" && !value.includes(":") ? `user:${value}` : value)}`)
    .join("");
}

function fits(name: FactFilterName, value: string): boolean {
  if (value === "") return false;
  if (name === "since" || name === "until") return parseTime(value, new Date()) !== undefined;
  const words: readonly string[] = FACT_FILTERS[name];
  return words.length === 0 || words.includes(value);
}
