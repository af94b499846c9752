import { isHookCommand } from "./hook-call.ts";
import type { HookTool } from "./hook-tool.ts";

/** A tool's settings, of which we know the part that hooks are in. */
export type Settings = Record<string, unknown>;
type Hooks = Record<string, unknown[]>;

/** In seconds; what runs longer has gone wrong in a way that its own deadline did not see. */
const TIMEOUT_SECONDS = 5;
const EVENTS: Readonly<Record<HookTool, readonly string[]>> = {
  "claude-code": ["UserPromptSubmit", "SessionStart"],
  codex: ["UserPromptSubmit", "SessionStart"],
  cursor: ["sessionStart"],
};

/** The commands of ours that stand there. */
export function ourCommands(settings: Settings): string[] {
  return Object.values(hooksOf(settings))
    .flat()
    .flatMap((entry) => [entry, ...innerOf(entry)])
    .map((entry) => (entry as { command?: unknown } | null)?.command)
    .filter(isHookCommand);
}

/** @throws Error where hooks are not as the tool has them */
export function withEntries(settings: Settings, tool: HookTool, command: string): Settings {
  const hooks = hooksOf(settings);
  const entry = tool === "cursor" ? { command } : { hooks: [{ type: "command", command, timeout: TIMEOUT_SECONDS }] };
  const added = Object.fromEntries(EVENTS[tool].map((event) => [event, [...(hooks[event] ?? []), entry]]));
  const version = tool === "cursor" && settings.version === undefined ? { version: 1 } : {};
  return { ...version, ...settings, hooks: { ...hooks, ...added } };
}

/** All of it but our entries, and what would be left empty without them. @throws Error as above */
export function withoutEntries(settings: Settings): Settings {
  const kept = Object.entries(hooksOf(settings)).flatMap(([event, entries]) => {
    const others = entries.flatMap(withoutOurs);
    return others.length === 0 && entries.length > 0 ? [] : [[event, others] as const];
  });
  const { hooks: _, ...rest } = settings;
  if (kept.length === 0) return rest;
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, key === "hooks" ? Object.fromEntries(kept) : value]));
}

/** An entry of Claude Code and Codex is a group, to which a person may have added something of theirs. */
function withoutOurs(entry: unknown): unknown[] {
  if (isOurs(entry)) return [];
  const inner = innerOf(entry);
  if (!inner.some(isOurs)) return [entry];
  const others = inner.filter((one) => !isOurs(one));
  return others.length === 0 ? [] : [{ ...(entry as object), hooks: others }];
}

function isOurs(entry: unknown): boolean {
  return isHookCommand((entry as { command?: unknown } | null)?.command);
}

function innerOf(entry: unknown): unknown[] {
  const inner = (entry as { hooks?: unknown } | null)?.hooks;
  return Array.isArray(inner) ? inner : [];
}

function hooksOf({ hooks = {} }: Settings): Hooks {
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)) throw new Error('"hooks" is no object');
  for (const [event, entries] of Object.entries(hooks)) if (!Array.isArray(entries)) throw new Error(`"hooks.${event}" is no list`);
  return hooks as Hooks;
}
