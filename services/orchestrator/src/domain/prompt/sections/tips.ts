import type { Section } from "../section.ts";

export const tips: Section = {
  minimumTier: "weak",
  audience: "agent",
  render: () => `## Tips
- Find with search_code or list_files first, then read only the lines you need.
- Small edits with edit_file; a whole file with write_file only where it is new or mostly changed.`,
};
