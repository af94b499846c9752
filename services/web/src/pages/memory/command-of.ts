import { shellWord } from "../../parts/shell-word.ts";
import { flagsOf, type MemoryQuestion, type MemoryView } from "./memory-question.ts";

interface Asked {
  readonly question: MemoryQuestion;
  readonly withEnded: boolean;
  readonly query: string;
  /** Of the wiki; empty where none is open. */
  readonly page: string;
}

/** The command of `hlvm` that shows what a view shows. */
export function commandOf(view: MemoryView, { question, withEnded, query, page }: Asked): string {
  if (view === "search") return `hlvm memory search ${shellWord(query.trim() || "words")}`;
  if (view === "thread") return `hlvm memory thread ${shellWord(query.trim() || "name")}`;
  if (view === "facts") return `hlvm memory list${flagsOf(question)}${withEnded ? " --ended" : ""}`;
  if (view === "pulse") return "hlvm memory stats";
  if (view === "inbox") return "hlvm memory inbox list";
  if (view === "recall") return `hlvm memory recalls${query.trim() === "" ? "" : ` --text ${shellWord(query.trim())}`}`;
  if (view === "sources")
    return query.trim() === "" ? "hlvm memory sessions list" : `hlvm memory sessions search ${shellWord(query.trim())}`;
  if (view === "wiki" && page !== "") return `hlvm memory wiki read ${shellWord(page)}`;
  if (view === "wiki") return query.trim() === "" ? "hlvm memory wiki list" : `hlvm memory wiki search ${shellWord(query.trim())}`;
  return `hlvm memory changes${flagsOf(question)}${view === "live" ? " --follow" : ""}`;
}
