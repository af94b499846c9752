import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SandboxRequest } from "../isolation.ts";
import type { TakePack } from "./prepared-folders.ts";
import type { SandboxedGit } from "./sandboxed-git.ts";

/** All that is in a workspace, `.git` and what git ignores too. Sockets are passed over. */
const ARCHIVE = `exec tar --create --file=- --directory=/workspace --warning=no-file-ignored .`;
const UNPACK = `
mkdir -p "$1"
tar --extract --file=pack --directory="$1" --preserve-permissions
rm pack
`;
/**
 * What the workspace begins with, for a later comparison, in a repository that no session reaches. A repository within it is no file.
 * What a program could be run for by its settings has none here: the repository is new.
 */
const SNAPSHOT = `
git init -q --bare --template= base.git
export GIT_DIR=/workspace/base.git GIT_WORK_TREE="/workspace/$1" GIT_INDEX_FILE=/tmp/index
cd "/workspace/$1"
{ printf '.\\0'; find . -mindepth 2 -name .git -printf ':(exclude,literal)%h\\0'; } > /tmp/paths
git add -A --pathspec-from-file=/tmp/paths --pathspec-file-nul
export GIT_AUTHOR_NAME=hlvm GIT_AUTHOR_EMAIL=hlvm GIT_COMMITTER_NAME=hlvm GIT_COMMITTER_EMAIL=hlvm
git commit-tree -m copy "$(git write-tree)"
`;

/**
 * Copies a workspace as an archive: it is read in a sandbox that sees nothing else, and unpacked in one that sees nothing but the copy.
 * @throws HlvmError `workspace_too_large`, `workspace_not_copied`
 */
export async function archiveWorkspace(git: SandboxedGit, from: SandboxRequest, take: TakePack, signal: AbortSignal): Promise<void> {
  let failure: unknown;
  const onOutput = (chunk: Buffer): boolean => {
    try {
      take(chunk);
      return true;
    } catch (thrown) {
      failure = thrown;
      return false;
    }
  };
  const end = await git.run(from, { text: ARCHIVE, words: [], profile: "read", signal, onOutput });
  if (failure !== undefined) throw failure;
  if (end?.exitCode !== 0) throw notCopied(from.workspace.path, end?.complaint ?? "");
}

/** @param name of the folder in `content` that is the copy */
export async function unpackArchive(git: SandboxedGit, content: SandboxRequest, name: string, signal: AbortSignal): Promise<void> {
  await git.require(content, { text: UNPACK, words: [name], profile: "edit", signal });
}

/** @returns the commit of the files as they are, in the folder's `base.git` */
export async function snapshotCopy(git: SandboxedGit, content: SandboxRequest, name: string, signal: AbortSignal): Promise<string> {
  let commit = "";
  const onOutput = (chunk: Buffer): boolean => {
    commit += chunk.toString("latin1");
    return commit.length < 1_000;
  };
  await git.require(content, { text: SNAPSHOT, words: [name], profile: "edit", signal, onOutput });
  return commit.trim();
}

function notCopied(path: string, complaint: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_not_copied",
    message: `Not all of ${path} could be copied: ${complaint || "it changed while it was read"}.`,
    advice: "Make what is named readable for whoever runs HLVM, or fork without --files.",
  });
}
