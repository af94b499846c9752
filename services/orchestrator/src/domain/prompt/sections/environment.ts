import { posix } from "node:path";
import type { Section } from "../section.ts";

/** Nothing that changes within a session, such as the time: providers cache this text. */
export const environment: Section = {
  minimumTier: "weak",
  audience: "agent",
  render: ({ session }) => {
    const lines = [
      `- Workspace: ${posix.basename(session.workspace) || "/"} (${session.workspace} on the user's machine). Paths in tool calls are relative to it.`,
      "- Commands run in an isolated Linux sandbox with the workspace at /workspace and without network.",
      gitLine(session.gitRepository, session.gitBranch),
    ];
    return `## Environment\n${lines.join("\n")}`;
  },
};

function gitLine(isRepository: boolean, branch: string): string {
  if (!isRepository) return "- It is no git repository.";
  return branch === "" ? "- It is a git repository." : `- It is a git repository, on branch ${branch} when this session began.`;
}
