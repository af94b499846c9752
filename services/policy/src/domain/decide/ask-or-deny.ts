import type { PermissionSettings, Ruling } from "./decision.ts";

/** An ask, or the deny that it becomes in dontAsk mode and where nobody can be asked. */
export function askOrDeny(settings: PermissionSettings, asked: Omit<Ruling, "decision">): Ruling {
  if (settings.mode === "dontAsk")
    return { ...asked, decision: "deny", reason: `${asked.reason} The mode dontAsk denies what would have to be asked.` };
  if (!settings.canAsk)
    return {
      ...asked,
      decision: "deny",
      rule: `${asked.rule}; nobody can be asked`,
      reason: `${asked.reason} Somebody would have to be asked, and nobody can be here.`,
    };
  return { ...asked, decision: "ask" };
}
