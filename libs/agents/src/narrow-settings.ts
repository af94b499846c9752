import { clone, create } from "@bufbuild/protobuf";
import { PermissionSettingsSchema, ToolBoundSchema, type PermissionSettings, type ToolBound } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { nativeTools } from "@hlvm/tools/native-tools";
import { keepChanges } from "@hlvm/tools/platform-tools";
import { spawnWorker } from "@hlvm/tools/worker-tools";

/** Opens what was put aside to save room: without it an agent would lose its own results. */
const ALWAYS = "read_result";

/**
 * What a run may do as an agent of this profile: what it may do anyway, with the profile's tools alone. Who verifies it holds it
 * against the settings that it was narrowed from, so that a mistake here can take away too little and never give anything.
 */
export function narrowSettings(settings: PermissionSettings, profile: AgentProfile): PermissionSettings {
  const narrowed = clone(PermissionSettingsSchema, settings);
  if (profile.tools !== undefined) narrowed.onlyTools = create(ToolBoundSchema, { tools: [...toolsOf(profile, profile.tools)] });
  if (!profile.canSpawn) narrowed.disallowedTools.push(spawnWorker.name);
  return narrowed;
}

function toolsOf({ canSpawn }: AgentProfile, { tools }: ToolBound): Set<string> {
  const all = new Set([...tools, ALWAYS]);
  if (matches(tools, "shell_exec")) all.add(keepChanges.name);
  if (canSpawn) all.add(spawnWorker.name);
  return all;
}

/** The tools that both have, by their names; undefined where neither is bound. */
export function commonTools(one: ToolBound | undefined, other: ToolBound | undefined): ToolBound | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const names = nativeTools.map(({ name }) => name).filter((name) => matches(one.tools, name) && matches(other.tools, name));
  return create(ToolBoundSchema, { tools: names });
}

/** Whether an agent of this profile is shown a tool. */
export function isOffered({ tools, canSpawn }: AgentProfile, name: string): boolean {
  if (name === spawnWorker.name) return canSpawn;
  return tools === undefined || name === ALWAYS || matches(tools.tools, name);
}

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}
