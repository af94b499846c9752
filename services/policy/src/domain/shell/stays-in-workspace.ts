import { isWorkspacePath } from "./workspace-path.ts";
import type { CommandPart } from "./word-reader.ts";

/** The workspace itself, by either of its names in the sandbox. */
const HERE = /^(\.|\/workspace)\/?$/;

/**
 * Whether the rules for programs that write, which read every path as if it began at the workspace, may be believed: they
 * may not where the command starts in another folder, or goes to one on its way. `cd -` goes to where nobody can tell.
 */
export function staysInWorkspace(parts: readonly CommandPart[], workingDirectory: string): boolean {
  return foldersOf(parts, workingDirectory).every((folder) => folder !== "-" && isWorkspacePath(folder));
}

/** Whether anything runs in another folder than the workspace itself, where git may find another repository. */
export function goesElsewhere(parts: readonly CommandPart[], workingDirectory: string): boolean {
  return foldersOf(parts, workingDirectory).some((folder) => !HERE.test(folder));
}

function foldersOf(parts: readonly CommandPart[], workingDirectory: string): readonly string[] {
  return [workingDirectory, ...parts.flatMap(({ words }) => (words[0]?.text === "cd" ? words.slice(1).map(({ text }) => text) : []))];
}
