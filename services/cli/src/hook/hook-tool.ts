/** The tools whose hooks can put something before their model. */
export const HOOK_TOOLS = ["claude-code", "codex", "cursor"] as const;
export type HookTool = (typeof HOOK_TOOLS)[number];

export function isHookTool(word: unknown): word is HookTool {
  return HOOK_TOOLS.some((tool) => tool === word);
}
