import type { SafetyLevel, ToolDefinition } from "@hlvm/tools/tool-definition";
import type { Section } from "../section.ts";

const LEVELS: readonly { readonly level: SafetyLevel; readonly meaning: string }[] = [
  { level: "L0", meaning: "only reads; always allowed" },
  { level: "L1", meaning: "changes that can be taken back; may be asked about or denied" },
  { level: "L2", meaning: "anything else; is usually asked about or denied" },
];

export const permissionLevels: Section = {
  minimumTier: "mid",
  audience: "agent",
  render: ({ tools }) => `## Permission levels
${LEVELS.map(({ level, meaning }) => `- ${level}: ${meaning}: ${namesOf(tools, level)}.`).join("\n")}
Each command of shell_exec is judged by itself. You do not ask for permission in words: make the call, and the user is asked where that is needed.`,
};

function namesOf(tools: readonly ToolDefinition[], level: SafetyLevel): string {
  return (
    tools
      .filter((tool) => tool.safetyLevel === level)
      .map((tool) => tool.name)
      .join(", ") || "none"
  );
}
