import type { PromptInput, Section, Tier } from "./section.ts";
import { chatRole } from "./sections/chat-role.ts";
import { criticalRules } from "./sections/critical-rules.ts";
import { environment } from "./sections/environment.ts";
import { examples } from "./sections/examples.ts";
import { footer } from "./sections/footer.ts";
import { instructions } from "./sections/instructions.ts";
import { permissionLevels } from "./sections/permission-levels.ts";
import { role } from "./sections/role.ts";
import { tips } from "./sections/tips.ts";
import { toolRouting } from "./sections/tool-routing.ts";

const SECTIONS: readonly Section[] = [
  role,
  chatRole,
  criticalRules,
  instructions,
  toolRouting,
  permissionLevels,
  environment,
  examples,
  tips,
  footer,
];

const RANK: Readonly<Record<Tier, number>> = { weak: 0, mid: 1, frontier: 2 };

/** The system prompt: the sections that are for this model, in a fixed order. */
export function compilePrompt(input: PromptInput): string {
  const audience = input.tools.length === 0 ? "chat" : "agent";
  return SECTIONS.filter((section) => RANK[section.minimumTier] <= RANK[input.tier])
    .filter((section) => section.audience === "both" || section.audience === audience)
    .map((section) => section.render(input))
    .filter((text) => text !== "")
    .join("\n\n");
}
