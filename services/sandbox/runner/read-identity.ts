import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceIdentityJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { openInside, WORKSPACE } from "./workspace-path.ts";

const FOLDER = join(WORKSPACE, ".git");
const MADE = ".hlvm/project";
const GIT_MILLISECONDS = 5_000;
const MAXIMUM_BYTES = 64 * 1024;
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** The repository's own settings may neither have git run or fetch anything, nor have it see another history than there is. */
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LANG: "C.UTF-8",
  GIT_DIR: FOLDER,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
};

/**
 * What tells the workspace's project from every other: its repository's first commit, with where it came from, or what somebody made
 * for it. Nothing where there is neither, or where only a part of the history is there.
 */
export async function readIdentity(): Promise<WorkspaceIdentityJson> {
  const rootCommit = (await isRepository()) ? await rootOf() : "";
  const origin = rootCommit === "" ? "" : await originOf();
  return { origin, rootCommit, madeId: rootCommit === "" ? await madeId() : "" };
}

async function isRepository(): Promise<boolean> {
  const [folder, shallow] = await Promise.all([FOLDER, join(FOLDER, "shallow")].map((path) => lstat(path).catch(() => undefined)));
  return folder?.isDirectory() === true && shallow === undefined;
}

/** The commit is hashed again: git believes a file by its name. */
async function rootOf(): Promise<string> {
  const root = await git("-c", "core.commitGraph=false", "rev-list", "--first-parent", "--max-parents=0", "HEAD");
  const hash = root?.toString().trim() ?? "";
  if (!HASH.test(hash)) return "";
  const commit = await git("cat-file", "commit", hash);
  if (commit === undefined) return "";
  const algorithm = hash.length === 40 ? "sha1" : "sha256";
  const found = createHash(algorithm).update(`commit ${commit.length}\0`).update(commit).digest("hex");
  return found === hash && !/^parent /m.test(commit.toString("latin1").split("\n\n")[0]!) ? hash : "";
}

async function originOf(): Promise<string> {
  const origin = await git("config", "--no-includes", "--get", "remote.origin.url");
  return origin?.toString().trim().slice(0, 2_048) ?? "";
}

async function madeId(): Promise<string> {
  try {
    const handle = await openInside(MADE, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== join(WORKSPACE, MADE) || !(await handle.stat()).isFile()) return "";
      const buffer = Buffer.alloc(64);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return /^([0-9a-f]{32})\s*$/.exec(buffer.toString("latin1", 0, bytesRead))?.[1] ?? "";
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

/** What git prints; undefined where it fails, prints too much or takes too long. */
function git(...words: string[]): Promise<Buffer | undefined> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve) => {
    const options = {
      env: ENVIRONMENT,
      cwd: "/",
      timeout: GIT_MILLISECONDS,
      killSignal: "SIGKILL",
      maxBuffer: MAXIMUM_BYTES,
      encoding: "buffer",
    } as const;
    execFile("git", words, options, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}
