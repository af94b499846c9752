import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { CliConfig } from "../config.ts";
import { HOOK_TOOLS, type HookTool } from "./hook-tool.ts";

/** Where a tool keeps what concerns its hooks. */
export interface HookPlace {
  readonly tool: HookTool;
  /** As people call it. */
  readonly name: string;
  readonly folder: string;
  /** Where its hooks stand, among other things. */
  readonly settings: string;
  /** Below it are its transcripts. */
  readonly transcripts: string;
}

export function hookPlace(tool: HookTool, { claudeDirectory, codexDirectory }: CliConfig): HookPlace {
  const [name, folder, settings, transcripts] = {
    "claude-code": ["Claude Code", claudeDirectory || join(homedir(), ".claude"), "settings.json", "projects"],
    codex: ["Codex", codexDirectory || join(homedir(), ".codex"), "hooks.json", "sessions"],
    cursor: ["Cursor", join(homedir(), ".cursor"), "hooks.json", "projects"],
  }[tool] as [string, string, string, string];
  return { tool, name, folder: resolve(folder), settings: resolve(folder, settings), transcripts: resolve(folder, transcripts) };
}

/** Those of tools that have been used here. */
export function foundPlaces(config: CliConfig): HookPlace[] {
  return HOOK_TOOLS.map((tool) => hookPlace(tool, config)).filter(isFound);
}

export function isFound({ folder }: HookPlace): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
