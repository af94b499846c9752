import { clone, create } from "@bufbuild/protobuf";
import { builtInProfiles, findBuiltInProfile, generalProfile } from "@hlvm/agents/built-in-profiles";
import { isTrustedProfile } from "@hlvm/agents/is-trusted-profile";
import { commonTools } from "@hlvm/agents/narrow-settings";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { AgentProfileSchema, ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** As what a run works. */
export interface RunAgent {
  readonly profile: AgentProfile;
  /** Profiles of the person's own, for its workers. */
  readonly own: readonly AgentProfile[];
}

export const GENERAL_AGENT: RunAgent = { profile: generalProfile, own: [] };

/**
 * The agent that somebody asks for. A profile that comes with HLVM is the one that is here, whatever else was sent under its name.
 * @throws HlvmError `profile_unknown`, `profile_refused`
 */
export function resolveAgent(asked: AgentProfile | undefined, own: readonly AgentProfile[]): RunAgent {
  for (const profile of own)
    if (!isTrustedProfile(profile, false) || findBuiltInProfile(profile.name) !== undefined) throw refused(profile);
  if (asked === undefined) return { profile: generalProfile, own };
  if (asked.source === ProfileSource.UNSPECIFIED || asked.source === ProfileSource.BUILT_IN) {
    const profile = findBuiltInProfile(asked.name) ?? own.find(({ name }) => name === asked.name);
    if (profile === undefined) throw unknown(asked.name);
    return { profile, own };
  }
  if (!isTrustedProfile(asked, true) || findBuiltInProfile(asked.name) !== undefined) throw refused(asked);
  return { profile: asked, own };
}

/** The profiles that an agent's workers may have. */
export function workerProfiles({ profile, own }: RunAgent): AgentProfile[] {
  if (!profile.canSpawn) return [];
  return [...builtInProfiles, ...own].filter(({ name }) => profile.workers.length === 0 || profile.workers.includes(name));
}

/**
 * A worker of an agent, by the name of its profile. It is shown what both are shown, and may start workers of its own only where
 * it is not too far down.
 */
export function workerAgent(parent: RunAgent, name: string, mayGoDeeper: boolean): RunAgent | undefined {
  const wanted = findBuiltInProfile(name)?.name ?? name;
  const found = workerProfiles(parent).find((profile) => profile.name === wanted);
  if (found === undefined) return undefined;
  const profile = clone(AgentProfileSchema, found);
  profile.tools = commonTools(parent.profile.tools, found.tools);
  profile.canSpawn = found.canSpawn && mayGoDeeper;
  return { profile: create(AgentProfileSchema, profile), own: parent.own };
}

function unknown(name: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "profile_unknown",
    message: `There is no agent profile "${name}".`,
    advice: "`hlvm agent list` shows them.",
  });
}

function refused({ name, path }: AgentProfile): HlvmError {
  const isTaken = findBuiltInProfile(name) !== undefined;
  const why = isTaken ? "a profile of that name comes with HLVM" : "a workspace's profile counts only where it is named for the run";
  return new HlvmError({
    code: "invalid_argument",
    reason: "profile_refused",
    message: `The agent profile "${name}"${path === "" ? "" : ` of ${path}`} is refused: ${why}.`,
    advice: isTaken ? "Give it another name." : "Name it with --agent.",
  });
}
