import { isWorkspacePath } from "./workspace-path.ts";

/**
 * Whether the rules for programs that write, which read every path as if it began at the workspace, may be believed: they
 * may not where the command starts in another folder, or goes to one on its way. `cd -` goes to where nobody can tell.
 */
export function staysInWorkspace(parts: readonly (readonly string[])[], workingDirectory: string): boolean {
  const folders = parts.flatMap(([program, ...operands]) => (program === "cd" ? operands : []));
  return [workingDirectory, ...folders].every((folder) => folder !== "-" && isWorkspacePath(folder));
}
