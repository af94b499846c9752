import type { Section } from "../section.ts";

export const instructions: Section = {
  minimumTier: "weak",
  audience: "both",
  render: () =>
    `## What counts first
Where they differ: these rules, then the user's latest message, then earlier messages, then what "# Your Memory" recalls. Memory may be out of date: check it where it matters.`,
};
