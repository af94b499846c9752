import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { builtInProfiles, findBuiltInProfile } from "@hlvm/agents/built-in-profiles";
import { ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Mistake, ParsedProfile } from "./parse-profile.ts";

const MAXIMUM_FILES = 64;
const MAXIMUM_BYTES = 60 * 1024;

export interface ReadProfiles {
  /** Those that come with HLVM, then the person's own, then the workspace's; no name twice. */
  readonly profiles: readonly AgentProfile[];
  readonly mistakes: readonly Mistake[];
}

interface ProfileFolder {
  /** Nothing outside of it is read. */
  readonly root: string;
  readonly within: string;
  readonly source: ProfileSource;
  readonly isClaude: boolean;
}

/**
 * The profiles that somebody has here. A file that is wrong is told of and left out, and the rest works; a name that is taken
 * stays with who had it first, so that a workspace's file never stands for one of the person's or of ours.
 * @param directory the person's own, `~/.hlvm`
 * @param workspace a folder of this machine; empty: none
 */
export async function readProfiles(directory: string, workspace: string): Promise<ReadProfiles> {
  const folders: ProfileFolder[] = [{ root: directory, within: "agents", source: ProfileSource.PERSON, isClaude: false }];
  if (workspace !== "")
    for (const name of [".hlvm", ".claude"])
      folders.push({ root: workspace, within: join(name, "agents"), source: ProfileSource.WORKSPACE, isClaude: name === ".claude" });
  const profiles = [...builtInProfiles];
  const mistakes: Mistake[] = [];
  for (const folder of folders) {
    for (const parsed of await readFolder(folder)) {
      mistakes.push(...parsed.mistakes);
      const { profile } = parsed;
      if (profile === undefined) continue;
      const first = profiles.find(({ name }) => name === profile.name);
      if (first === undefined) profiles.push(profile);
      else mistakes.push(fatal(profile.path, `the name ${profile.name} is taken by ${first.path}`));
    }
  }
  const known = profiles.filter(({ source }) => source !== ProfileSource.WORKSPACE);
  const usable = withoutUnknownWorkers(
    profiles.map((profile) => ({ profile })),
    known,
    mistakes,
  );
  return { profiles: usable.map(({ profile }) => profile), mistakes };
}

/** Those whose workers are all known; a workspace's profile is nobody's worker. */
export function withoutUnknownWorkers<Read extends { readonly profile: AgentProfile }>(
  read: readonly Read[],
  known: readonly AgentProfile[],
  mistakes: Mistake[],
): Read[] {
  return read.filter(({ profile }) => {
    const unknown = profile.workers.find((name) => !known.some((one) => one.name === name));
    if (unknown === undefined || findBuiltInProfile(profile.name) !== undefined) return true;
    mistakes.push(fatal(profile.path, `there is no profile "${unknown}" that its workers could have`));
    return false;
  });
}

async function readFolder({ root, within, source, isClaude }: ProfileFolder): Promise<ParsedProfile[]> {
  const folder = join(root, within);
  const names = namesIn(folder);
  if (names.length === 0) return [];
  // Most folders have none, and the parser takes long to load.
  const { parseProfile } = await import("./parse-profile.ts");
  const shown = (name: string): string => (source === ProfileSource.WORKSPACE ? join(within, name) : join(folder, name));
  const parsed = names.slice(0, MAXIMUM_FILES).map((name): ParsedProfile => {
    const path = shown(name);
    try {
      return parseProfile({ path, text: readWithin(root, join(folder, name)), source, isClaude });
    } catch (cause) {
      return { mistakes: [fatal(path, (cause as Error).message)] };
    }
  });
  if (names.length > MAXIMUM_FILES) parsed.push({ mistakes: [fatal(shown("…"), `only the first ${MAXIMUM_FILES} files are read`)] });
  return parsed;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .toSorted();
  } catch {
    return [];
  }
}

/** @throws Error that says why it is not read */
function readWithin(root: string, path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new Error("it cannot be read, or is a link to nothing");
  }
  const inside = relative(realpathSync(root), real);
  if (inside === ".." || inside.startsWith(`..${sep}`) || inside.startsWith(sep))
    throw new Error("it is a link that leads out of the folder");
  // A pipe of that name would be waited for.
  const file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is no file");
    const bytes = Buffer.alloc(MAXIMUM_BYTES + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > MAXIMUM_BYTES) throw new Error(`it is larger than ${MAXIMUM_BYTES / 1024} KiB`);
    return decode(bytes.subarray(0, length));
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8");
  }
}

function fatal(path: string, message: string): Mistake {
  return { path, line: 1, message, isFatal: true };
}
