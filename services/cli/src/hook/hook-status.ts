import { accessSync, constants } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { HookLogLine } from "./hook-log.ts";
import { isFound, type HookPlace } from "./hook-place.ts";
import { installedHook } from "./install-hook.ts";
import type { InstallRecords } from "./install-record.ts";
import { switchedOff } from "./switched-off.ts";
import { lastBegun } from "./tool-use.ts";

export interface HookStatus {
  readonly tool: string;
  readonly found: boolean;
  readonly mode: "live" | "shadow" | "not installed";
  readonly settings: string;
  readonly last?: HookLogLine;
  readonly events: number;
  /** Of the whole process, in milliseconds. */
  readonly p50?: number;
  readonly p95?: number;
  readonly warnings: readonly string[];
}

/** From a conversation's first line until its hook has told. */
const GRACE_MILLISECONDS = 60_000;

/** What is known of a tool's hook, with what speaks for its being silent. */
export function hookStatus(place: HookPlace, log: readonly HookLogLine[], records: InstallRecords): HookStatus {
  const { tool, settings } = place;
  const mine = log.filter((line) => line.tool === tool);
  const times = mine.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const known = {
    tool,
    found: isFound(place),
    settings,
    last: mine.at(-1),
    events: mine.length,
    p50: share(times, 0.5),
    p95: share(times, 0.95),
  };
  try {
    const { program, isLive } = installedHook(place);
    if (program === undefined) return { ...known, mode: "not installed", warnings: [] };
    const since = Math.max(Date.parse(records.read(settings)?.at ?? "") || 0, Date.parse(known.last?.at ?? "") || 0);
    const warnings = [...switchedOff(place), ...gone(program), ...silentSince(place, since)];
    return { ...known, mode: isLive === true ? "live" : "shadow", warnings };
  } catch (thrown) {
    if (!(thrown instanceof HlvmError)) throw thrown;
    return { ...known, mode: "not installed", warnings: [thrown.message] };
  }
}

function gone(program: string): string[] {
  try {
    accessSync(program, constants.X_OK);
    return [];
  } catch {
    return [`${program} is gone: run \`hlvm hook install\` again.`];
  }
}

function silentSince(place: HookPlace, since: number): string[] {
  const begun = lastBegun(place);
  if (begun === undefined || begun.getTime() < since + GRACE_MILLISECONDS) return [];
  const trust = place.tool === "codex" ? " Type /hooks in codex to see whether it is trusted." : "";
  return [`A conversation began at ${begun.toISOString()}, and the hook has heard of none since ${new Date(since).toISOString()}.${trust}`];
}

function share(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
