import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { findSecrets } from "@hlvm/redaction/find-secrets";
import { requireGit, runGit, topFolder } from "./run-git.ts";

/** Enough to see why a line is as it is. The pack of this repository: 1.4 MB with one commit, 1.8 with 50, 2.3 with all. */
const COMMITS_SENT = 50;
const MAXIMUM_SEARCHED_BYTES = 1024 * 1024;
const NOBODY = {
  GIT_AUTHOR_NAME: "hlvm",
  GIT_AUTHOR_EMAIL: "hlvm@localhost",
  GIT_COMMITTER_NAME: "hlvm",
  GIT_COMMITTER_EMAIL: "hlvm@localhost",
};

export interface PackedFolder extends Disposable {
  readonly name: string;
  /** Empty where nothing is committed yet. */
  readonly head: string;
  readonly snapshot: string;
  readonly branch: string;
  readonly shallow: readonly string[];
  readonly file: string;
  /** Of that file, in bytes, and its hash. */
  readonly size: number;
  readonly sha256: string;
  /** Files that are not committed and hold something that looks like a secret. */
  readonly secretFiles: readonly string[];
  /** Repositories within the repository. */
  readonly otherRepositories: readonly string[];
  /** `SIZE PATH`, the largest first. */
  readonly largest: readonly string[];
}

/**
 * Packs the newest commits of a repository and, as a commit of its own, its files as they are: staged, changed and new ones,
 * without what is ignored. The repository itself is not written to.
 * @throws HlvmError `not_a_repository`, `git_failed`
 */
export async function packFolder(
  folder: string,
  { sendsSecrets, signal }: { sendsSecrets: boolean; signal: AbortSignal },
): Promise<PackedFolder> {
  const top = await topFolder(folder, signal);
  if (top === undefined) throw notARepository(folder);
  const temporary = mkdtempSync(join(tmpdir(), "hlvm-upload-"));
  const remove = (): void => rmSync(temporary, { recursive: true, force: true });
  try {
    return { ...(await pack(top, temporary, sendsSecrets, signal)), [Symbol.dispose]: remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

async function pack(
  top: string,
  temporary: string,
  sendsSecrets: boolean,
  signal: AbortSignal,
): Promise<Omit<PackedFolder, typeof Symbol.dispose>> {
  const here = { folder: top, signal };
  const pathOf = async (name: string): Promise<string> => requireGit(["rev-parse", "--path-format=absolute", "--git-path", name], here);
  const [index, objects, shallowFile] = await Promise.all([pathOf("index"), pathOf("objects"), pathOf("shallow")]);
  if (existsSync(index)) copyFileSync(index, join(temporary, "index"));
  mkdirSync(join(temporary, "objects"));
  const apart = {
    ...here,
    environment: {
      ...NOBODY,
      GIT_INDEX_FILE: join(temporary, "index"),
      GIT_OBJECT_DIRECTORY: join(temporary, "objects"),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    },
  };
  const untracked = (await requireGit(["ls-files", "-z", "--others", "--exclude-standard"], apart))
    .split("\0")
    .filter((path) => path !== "");
  const otherRepositories = untracked.filter((path) => path.endsWith("/"));
  const secretFiles = sendsSecrets ? [] : untracked.filter((path) => !path.endsWith("/") && holdsSecret(join(top, path)));
  const without = [...otherRepositories, ...secretFiles].map((path) => `:(exclude,literal)${path}`);
  const paths = join(temporary, "paths");
  writeFileSync(paths, [".", ...without].join("\0"));
  await requireGit(["add", "-A", `--pathspec-from-file=${paths}`, "--pathspec-file-nul"], apart);

  const head = (await runGit(["rev-parse", "--verify", "-q", "HEAD"], apart)).output.toString("latin1").trim();
  const branch = (await runGit(["symbolic-ref", "-q", "--short", "HEAD"], apart)).output.toString("utf8").trim();
  const tree = await requireGit(["write-tree"], apart);
  const snapshot = await requireGit(["commit-tree", tree, ...(head === "" ? [] : ["-p", head]), "-m", "What was sent"], apart);
  const limit = `--max-count=${COMMITS_SENT + 1}`;
  const commits = (await requireGit(["rev-list", "--parents", limit, snapshot], apart)).split("\n").map((line) => line.split(" "));
  const cutBefore = existsSync(shallowFile) ? readFileSync(shallowFile, "latin1").split("\n") : [];
  const ids = (await requireGit(["rev-list", "--objects", limit, snapshot], apart)).replaceAll(/ .*/g, "");
  const file = join(temporary, "pack");
  await requireGit(["pack-objects", "--stdout", "-q"], { ...apart, input: Buffer.from(`${ids}\n`), outputFile: file });
  return {
    name: basename(top),
    head,
    snapshot,
    branch,
    shallow: shallowOf(commits, new Set(cutBefore)),
    file,
    size: statSync(file).size,
    sha256: await hashOf(file),
    secretFiles,
    otherRepositories,
    largest: largestOf(await requireGit(["ls-tree", "-r", "-l", "-z", "--full-tree", snapshot], apart)),
  };
}

/** Commits whose parents are not sent, or were not here themselves. */
function shallowOf(commits: readonly (readonly string[])[], cutBefore: ReadonlySet<string>): string[] {
  const sent = new Set(commits.map(([commit]) => commit));
  return commits
    .filter(([commit = "", ...parents]) => cutBefore.has(commit) || parents.some((parent) => !sent.has(parent)))
    .map(([commit = ""]) => commit);
}

function holdsSecret(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAXIMUM_SEARCHED_BYTES) return false;
  const bytes = readFileSync(path);
  return !bytes.includes(0) && findSecrets(bytes.toString("utf8")).length > 0;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

const SHOWN_FILES = 5;

function largestOf(list: string): string[] {
  const sizes = list.split("\0").flatMap((entry): [number, string][] => {
    const match = /^\d+ \w+ \w+ +(\d+)\t([^]*)$/.exec(entry);
    return match === null ? [] : [[Number(match[1]), match[2]!]];
  });
  const largest = sizes.sort(([one], [other]) => other - one).slice(0, SHOWN_FILES);
  return largest.map(([bytes, path]) => `${(bytes / (1024 * 1024)).toFixed(1)} MiB ${path}`);
}

function notARepository(folder: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "not_a_repository",
    message: `${folder} is in no git repository, and --upload sends one.`,
    advice: "Make it one, and name in .gitignore what shall stay here: `git init`. Nothing needs to be committed.",
  });
}
