import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { HookPlace } from "./hook-place.ts";

/** When a tool's last conversation began, as its transcripts tell; undefined where it has none. */
export function lastBegun({ tool, transcripts }: HookPlace): Date | undefined {
  let last = 0;
  for (const path of filesBelow(transcripts)) {
    if (!/\.jsonl(?:\.zst)?$/.test(path) || path.includes("subagents") || (tool === "cursor" && !path.includes("agent-transcripts")))
      continue;
    const { birthtimeMs = 0, mtimeMs = 0 } = statSync(join(transcripts, path), { throwIfNoEntry: false }) ?? {};
    // A copy is younger than what was said in it; one that is written on is older than its last line.
    last = Math.max(last, Math.min(birthtimeMs || mtimeMs, mtimeMs));
  }
  return last === 0 ? undefined : new Date(last);
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}
