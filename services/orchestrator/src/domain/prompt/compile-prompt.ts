import type { PromptInput, Section, Tier } from "./section.ts";
import { delegation, profileSection } from "./sections/agent-sections.ts";
import { chatRole, chatWithoutTools, footer, role } from "./sections/role-sections.ts";
import { criticalRules, customInstructions, instructions, permissionLevels } from "./sections/rule-sections.ts";
import { memoryGuidance, planning, remoteExecution, toolRouting, webGuidance } from "./sections/tool-sections.ts";
import { environment, examples, tips } from "./sections/work-sections.ts";

/** All that there are, in the order in which a model reads them. */
const SECTIONS: readonly Section[] = [
  role,
  chatRole,
  chatWithoutTools,
  criticalRules,
  instructions,
  profileSection,
  toolRouting,
  permissionLevels,
  planning,
  delegation,
  webGuidance,
  remoteExecution,
  memoryGuidance,
  environment,
  customInstructions,
  examples,
  tips,
  footer,
];

const RANK: Readonly<Record<Tier, number>> = { weak: 0, mid: 1, frontier: 2 };

/**
 * The system prompt: the sections that are for this model, in a fixed order. Small models are spared those that a larger one
 * makes use of: their windows are small, and each further rule makes them keep to the others less.
 */
export function compilePrompt(input: PromptInput): string {
  const audience = input.tools.length === 0 ? "chat" : "agent";
  return SECTIONS.filter((section) => RANK[section.minimumTier] <= RANK[input.tier])
    .filter((section) => section.audience === "both" || section.audience === audience)
    .map((section) => section.render(input))
    .filter((text) => text !== "")
    .join("\n\n");
}
