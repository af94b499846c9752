import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/** The machine's own git, in a folder. @returns what it printed, without the last line feed */
export function git(folder: string, words: readonly string[], input?: string | Uint8Array): string {
  return execFileSync("git", words, { cwd: folder, env: environment, input, maxBuffer: 64 * 1024 * 1024 })
    .toString("latin1")
    .trimEnd();
}

/** A new repository with these files in one commit on `main`. */
export function createRepository(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-repository-")));
  git(folder, ["init", "-q", "-b", "main"]);
  commitFiles(folder, files);
  return folder;
}

/** @returns the id of the commit */
export function commitFiles(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  git(folder, ["add", "-A"]);
  git(folder, ["commit", "-q", "--allow-empty", "-m", "a commit"]);
  return git(folder, ["rev-parse", "HEAD"]);
}
