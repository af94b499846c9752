import type { Section } from "../section.ts";

export const examples: Section = {
  minimumTier: "mid",
  audience: "agent",
  render: () => `## Examples
- "Why does the build fail?" — run the build, read the first error, open the file and line it names, then answer with the cause and where it is.
- "Rename the option" — search_code for it, read each place, edit_file each, search again, run the tests.
- "What does this repository do?" — list_files, read the README and the entry points, then answer in a few sentences that name files.`,
};
