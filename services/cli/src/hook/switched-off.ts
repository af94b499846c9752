import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import type { HookPlace } from "./hook-place.ts";
import { parseSettings } from "./settings-text.ts";

const MANAGED = "/etc/claude-code/managed-settings.json";

/** Why a tool runs no hook of ours although it is installed, as its settings say. @param managed the settings of its administrator */
export function switchedOff({ tool, folder, settings }: HookPlace, managed = MANAGED): string[] {
  if (tool === "claude-code") {
    const files = [settings, join(folder, "settings.local.json"), managed];
    const disabled = files.filter((file) => jsonOf(file).disableAllHooks === true).map((file) => `disableAllHooks is set in ${file}.`);
    return jsonOf(managed).allowManagedHooksOnly === true ? [...disabled, `allowManagedHooksOnly is set in ${managed}.`] : disabled;
  }
  if (tool !== "codex") return [];
  const file = join(folder, "config.toml");
  const { features } = tomlOf(file) as { features?: { hooks?: unknown; codex_hooks?: unknown } };
  return features?.hooks === false || features?.codex_hooks === false ? [`Hooks are switched off in ${file}.`] : [];
}

function jsonOf(file: string): Record<string, unknown> {
  try {
    return parseSettings(readFileSync(file));
  } catch {
    return {};
  }
}

function tomlOf(file: string): Record<string, unknown> {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}
