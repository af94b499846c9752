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
 * The profile that somebody named for a run, and those of their own that its workers may have. A workspace's file counts only
 * where it is named, and it is said where it comes from.
 * @throws HlvmError wrong usage, where there is none of that name
 */
export async function chosenProfile(
  name: string | undefined,
  directory: string,
  workspace: string,
  screen: Screen,
): Promise<ChosenProfile> {
  const read = await readProfiles(directory, name === undefined ? "" : workspace);
  noteMistakes(
    read.mistakes.filter(({ isFatal }) => isFatal),
    screen,
  );
  const workerProfiles = read.profiles.filter(({ source }) => source === ProfileSource.PERSON);
  if (name === undefined) return { workerProfiles };
  const agent = findProfile(name, read);
  if (agent.source === ProfileSource.WORKSPACE) screen.note(`agent ${agent.name}: from ${agent.path} of this workspace`, "warning");
  return { agent, workerProfiles };
}

/** @throws HlvmError wrong usage */
export function findProfile(name: string, { profiles }: ReadProfiles): AgentProfile {
  const found = profiles.find((profile) => profile.name === name) ?? findBuiltInProfile(name);
  if (found === undefined) throw noProfile(name, profiles);
  return found;
}

function noProfile(name: string, profiles: readonly AgentProfile[]): HlvmError {
  return wrongUsage(`There is no agent profile "${name}".`, `There are: ${profiles.map((profile) => profile.name).join(", ")}.`);
}
