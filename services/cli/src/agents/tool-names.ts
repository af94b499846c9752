import { nativeTools } from "@hlvm/tools/native-tools";

/** Claude Code's tools, and ours that do the same; none: there is no such tool here. */
const CLAUDE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ["read_file", "file_stats"],
  Write: ["write_file"],
  Edit: ["edit_file"],
  MultiEdit: ["edit_file"],
  Bash: ["shell_exec", "list_processes", "stop_process"],
  BashOutput: ["list_processes"],
  KillShell: ["stop_process"],
  Glob: ["list_files"],
  LS: ["list_files"],
  Grep: ["search_code"],
  WebFetch: [],
  WebSearch: [],
  NotebookRead: [],
  NotebookEdit: [],
  TodoWrite: [],
  Skill: [],
  AskUserQuestion: [],
  ExitPlanMode: [],
};

/** What a word in a list of tools means here. */
export type ToolWord =
  | { readonly tools: readonly string[] }
  /** It may start workers: these, or any. */
  | { readonly workers: readonly string[] }
  | { readonly isLeftOut: string }
  | { readonly isUnknown: true };

/** A tool's name, ours or Claude Code's, or a beginning of ours followed by `*`. */
export function readToolWord(word: string): ToolWord {
  const spawning = /^(Task|Agent)(?:\(([^)]*)\))?$/.exec(word);
  if (word === "spawn_worker") return { workers: [] };
  if (spawning !== null) {
    const names = (spawning[2] ?? "").split(",").map((name) => name.trim());
    return { workers: names.filter((name) => name !== "") };
  }
  if (Object.hasOwn(CLAUDE_TOOLS, word)) {
    const tools = CLAUDE_TOOLS[word]!;
    return tools.length === 0 ? { isLeftOut: `there is no tool like ${word} here` } : { tools };
  }
  // To give the whole tool for a part of it would be to give more than the file says.
  if (/^[A-Z]\w*\(.*\)$/.test(word)) return { isLeftOut: `a part of a tool, such as ${word}, cannot be given here` };
  if (word.startsWith("mcp__")) return { isLeftOut: `there is no tool ${word} here` };
  const isOurs = nativeTools.some(({ name }) => (word.endsWith("*") ? name.startsWith(word.slice(0, -1)) : name === word));
  return isOurs && /^[a-z][a-z0-9_]*\*?$/.test(word) ? { tools: [word] } : { isUnknown: true };
}
