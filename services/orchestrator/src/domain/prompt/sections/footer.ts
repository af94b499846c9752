import type { Section } from "../section.ts";

export const footer: Section = {
  minimumTier: "weak",
  audience: "both",
  render: () =>
    "Answer in the user's language, short and plain. Name files with their paths and lines. When the task is done, say what you did in a few sentences and stop.",
};
