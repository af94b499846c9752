import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { findBuiltInProfile } from "@hlvm/agents/built-in-profiles";
import { wrongUsage } from "../options/wrong-usage.ts";
import type { Screen } from "../terminal/screen.ts";
import { noteMistakes } from "./note-mistakes.ts";
import { readProfiles, type ReadProfiles } from "./read-profiles.ts";

export interface ChosenProfile {
  readonly agent?: AgentProfile;
  /** The person's own, for workers. */
  readonly workerProfiles: AgentProfile[];
}

/**
 * The profile that somebody named for a run, where it comes with HLVM or is their own, and those of their own that its workers
 * may have. What is neither is looked for in the workspace, wherever that is.
 */
export async function chosenProfile(name: string | undefined, directory: string, screen: Screen): Promise<ChosenProfile> {
  const { profiles, mistakes } = await readProfiles(directory, "");
  noteMistakes(
    mistakes.filter(({ isFatal }) => isFatal),
    screen,
  );
  const workerProfiles = profiles.filter(({ source }) => source === ProfileSource.PERSON);
  const agent = name === undefined ? undefined : (profiles.find((profile) => profile.name === name) ?? findBuiltInProfile(name));
  return { workerProfiles, ...(agent === undefined ? {} : { agent }) };
}

/** @throws HlvmError wrong usage */
export function findProfile(name: string, { profiles }: ReadProfiles): AgentProfile {
  const found = profiles.find((profile) => profile.name === name) ?? findBuiltInProfile(name);
  if (found === undefined) throw noProfile(name, profiles);
  return found;
}

export function noProfile(name: string, profiles: readonly AgentProfile[]): HlvmError {
  return wrongUsage(`There is no agent profile "${name}".`, `There are: ${profiles.map((profile) => profile.name).join(", ")}.`);
}
