import type { Section } from "../section.ts";

export const toolRouting: Section = {
  minimumTier: "mid",
  audience: "agent",
  render: ({ tools }) => {
    const rows = tools.flatMap((tool) => (tool.replaces === undefined ? [] : [`| ${tool.replaces} | ${tool.name} |`]));
    if (rows.length === 0) return "";
    return `## Tool routing
| Instead of the shell's | Use |
|---|---|
${rows.join("\n")}

Calls that do not need each other's results go into one turn: they run at the same time.`;
  },
};
