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
      ...(session.stateless ? ["- Nothing of this session is kept or remembered after it."] : []),
    ];
    return `## Environment\n${lines.join("\n")}`;
  },
};

function gitLine(isRepository: boolean, branch: string): string {
  if (!isRepository) return "- It is no git repository.";
  return branch === "" ? "- It is a git repository." : `- It is a git repository, on branch ${branch} when this session began.`;
}

export const examples: Section = {
  minimumTier: "mid",
  audience: "agent",
  render: () => `## Examples
- "Why does the build fail?" — run the build, read the first error, open the file and line it names, then answer with the cause and where it is.
- "Rename the option" — search_code for it, read each place, edit_file each, search again, run the tests.
- "What does this repository do?" — list_files, read the README and the entry points, then answer in a few sentences that name files.`,
};

export const tips: Section = {
  minimumTier: "weak",
  audience: "agent",
  render: ({ tier }) => {
    const lines = [
      "- Find with search_code or list_files first, then read only the lines you need.",
      "- Small edits with edit_file; a whole file with write_file only where it is new or mostly changed.",
      // Found in trials: small models break structured files with sed and with many small edits.
      ...(tier === "weak"
        ? ["- HTML, JSON and YAML: read the file, then write it whole with write_file. Never change them with sed."]
        : []),
    ];
    return `## Tips\n${lines.join("\n")}`;
  },
};
