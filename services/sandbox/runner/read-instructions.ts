import { constants } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { failureOf } from "./failure-of.ts";
import { ToolFailure } from "./tool.ts";
import { openInside, workspacePath, WORKSPACE } from "./workspace-path.ts";

export interface FoundInstruction {
  /** Relative to the workspace: where the file really is. */
  readonly path: string;
  readonly text: string;
  /** Why it cannot be read as instructions; empty where it was. */
  readonly refusal: string;
}

export interface FoundInstructions {
  readonly files: readonly FoundInstruction[];
  readonly more: boolean;
}

const NAMES = ["HLVM.md", "AGENTS.md", "CLAUDE.md"] as const;
/** At the top of the workspace alone. */
const OWN_FILE = ".hlvm/HLVM.md";
const PROFILE_FOLDERS = [".hlvm/agents", ".claude/agents"] as const;
const MAXIMUM_BYTES = 32 * 1024;
const MAXIMUM_PROFILE_BYTES = 60 * 1024;
const MAXIMUM_FILES = 64;
/** Of one answer, so that it fits a frame whatever its characters become in JSON. */
const MAXIMUM_TOTAL_BYTES = 512 * 1024;
const MAXIMUM_FOLDERS = 2_000;
const MAXIMUM_DEPTH = 8;
/** What lies there is other people's, git's, or the platform's own. */
const NEVER_IN = new Set([".git", ".hlvm", "node_modules", "vendor", ".venv", "site-packages"]);

/**
 * The files with instructions in these folders, each once, also where several names lead to it. Whatever a file refers to, such
 * as `@other.md`, is not read.
 */
export function readInstructions(folders: readonly string[]): Promise<FoundInstructions> {
  return readEach(folders.flatMap(candidates));
}

/** The files with profiles of agents. */
export async function readProfiles(): Promise<FoundInstructions> {
  return readEach(await profileFiles());
}

async function readEach(paths: readonly string[]): Promise<FoundInstructions> {
  const found = new Map<string, FoundInstruction>();
  let bytes = 0;
  for (const path of paths) {
    if (found.size >= MAXIMUM_FILES || bytes >= MAXIMUM_TOTAL_BYTES) return { files: [...found.values()], more: true };
    const file = await readOne(path);
    if (file === undefined || found.has(file.path)) continue;
    bytes += Buffer.byteLength(file.text);
    found.set(file.path, file);
  }
  return { files: [...found.values()], more: false };
}

/** The instructions of the whole workspace, as far as it is searched, and its profiles. */
export async function readAllInstructions(): Promise<FoundInstructions> {
  const folders = [""];
  let more = false;
  for (const folder of folders) {
    const entries = await readdir(join(WORKSPACE, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (!entry.isDirectory() || NEVER_IN.has(entry.name)) continue;
      const isTooMuch = folders.length >= MAXIMUM_FOLDERS || folder.split("/").length >= MAXIMUM_DEPTH;
      if (isTooMuch) more = true;
      else folders.push(posix.join(folder, entry.name));
    }
  }
  const found = await readEach([...folders.flatMap(candidates), ...(await profileFiles())]);
  return { files: found.files, more: more || found.more };
}

/** Where a folder is a link, what it leads to is refused file by file. */
async function profileFiles(): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of PROFILE_FOLDERS) {
    const names = await readdir(join(WORKSPACE, folder)).catch(() => []);
    for (const name of names.toSorted((one, other) => (one < other ? -1 : 1)))
      if (name.endsWith(".md")) paths.push(posix.join(folder, name));
  }
  return paths;
}

function isProfile(path: string): boolean {
  return path.endsWith(".md") && (PROFILE_FOLDERS as readonly string[]).includes(posix.dirname(path));
}

function candidates(given: string): string[] {
  let folder: string;
  try {
    folder = workspacePath(given === "" ? "." : given).relative;
  } catch {
    return [];
  }
  if (folder.split("/").some((name) => NEVER_IN.has(name))) return [];
  return [...NAMES.map((name) => posix.join(folder, name)), ...(folder === "" ? [OWN_FILE] : [])];
}

/** @returns undefined where there is no such file */
async function readOne(path: string): Promise<FoundInstruction | undefined> {
  try {
    const handle = await openInside(path, constants.O_RDONLY);
    try {
      const real = (await readlink(`/proc/self/fd/${handle.fd}`)).slice(WORKSPACE.length + 1);
      // Else a file that nobody took for instructions would become some by a link.
      const isFit = isProfile(path) ? isProfile(real) : (NAMES as readonly string[]).includes(basename(real));
      if (!isFit) throw refused(`it is a link to ${real}`);
      const most = isProfile(path) ? MAXIMUM_PROFILE_BYTES : MAXIMUM_BYTES;
      const stats = await handle.stat();
      if (!stats.isFile()) throw refused("it is no regular file");
      if (stats.size > most) throw refused(`it has ${stats.size} bytes, and it may have ${most}`);
      const buffer = Buffer.alloc(most + 1);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      if (bytesRead > most) throw refused(`it is longer than the ${most} bytes that it may have`);
      return { path: real, text: decode(buffer.subarray(0, bytesRead)), refusal: "" };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const failure = failureOf(thrown, path);
    if (failure.errorCode === "not_found") return undefined;
    const isLink = failure.errorCode === "outside_workspace";
    return { path, text: "", refusal: isLink ? "it is a link that leads out of the workspace" : failure.message };
  }
}

function decode(bytes: Buffer): string {
  if (bytes.includes(0)) throw refused("it is no text");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused("it is not valid UTF-8");
  }
}

function refused(why: string): ToolFailure {
  return new ToolFailure("unavailable", why);
}
