import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { sep } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { isCommit, type GitSource } from "../../domain/prepared/git-source.ts";
import { COMMITS_FETCHED, referenceNotFound, type FetchPack } from "../../domain/prepared/pack-source.ts";
import type { SandboxedGit } from "../../domain/prepared/sandboxed-git.ts";
import { inspectFolder } from "../local-folders.ts";

const NOT_FOUND = 90;
const MAXIMUM_HEADER_BYTES = 1024 * 1024;
const END_OF_HEADER = "\n\n";

/** Prints the commit, its branch, each commit with its parents, an empty line, and the pack. */
const PACK = `
if [ -d .git ]; then export GIT_DIR=/workspace/.git; else export GIT_DIR=/workspace; fi
branch=
if [ -z "$1" ]; then name=HEAD; branch=$(git symbolic-ref -q --short HEAD || true)
elif git show-ref --verify -q "refs/heads/$1"; then name="refs/heads/$1" branch=$1
elif git show-ref --verify -q "refs/tags/$1"; then name="refs/tags/$1"
else name=$1; fi
commit=$(git rev-parse --verify -q --end-of-options "$name^{commit}") || exit ${NOT_FOUND}
printf '%s %s\\n' "$commit" "$branch"
git rev-list --parents --max-count="$2" "$commit"
[ ! -f "$GIT_DIR/shallow" ] || sed 's/$/ left-out/' "$GIT_DIR/shallow"
echo
git rev-list --objects --max-count="$2" "$commit" | cut -c 1-40 | git pack-objects --stdout -q
`;

/**
 * Fetches from a repository of this machine, which git reads in a sandbox as it reads any other.
 * @param folders where repositories may lie; none where it is empty
 */
export function fetchFromFolder(folders: readonly string[], git: SandboxedGit): FetchPack {
  return async ({ sessionId, source, take, onProgress, signal }) => {
    const workspace = await allowedFolder(source, folders);
    onProgress(`reading ${source.url.pathname}`);
    let header: Buffer | undefined = Buffer.alloc(0);
    let bundleHeader = "";
    let failure: unknown;
    const onOutput = (chunk: Buffer): boolean => {
      try {
        if (header === undefined) take(chunk);
        else {
          header = Buffer.concat([header, chunk]);
          const end = header.indexOf(END_OF_HEADER);
          if (end === -1) return header.length <= MAXIMUM_HEADER_BYTES;
          bundleHeader = header.toString("latin1", 0, end);
          take(header.subarray(end + END_OF_HEADER.length));
          header = undefined;
        }
        return true;
      } catch (thrown) {
        failure = thrown;
        return false;
      }
    };
    const words = [source.ref, String(COMMITS_FETCHED)];
    const end = await git.run({ sessionId, workspace }, { text: PACK, words, profile: "read", signal, onOutput });
    if (failure !== undefined) throw failure;
    if (end?.exitCode === NOT_FOUND) throw referenceNotFound(source);
    if (end?.exitCode !== 0) throw notAllowed(source, `git cannot read it: ${end?.complaint ?? "it has too many commits at once"}`);
    return factsOf(bundleHeader);
  };
}

function factsOf(bundleHeader: string) {
  const [first = "", ...commits] = bundleHeader.split("\n");
  const [head = "", branch = ""] = first.split(" ");
  const parents = commits.map((line) => line.split(" "));
  const known = new Set(parents.filter(([, first]) => first !== "left-out").map(([commit]) => commit));
  const cut = parents.filter(([commit = "", ...before]) => known.has(commit) && before.some((parent) => !known.has(parent)));
  return { head, snapshot: head, branch, shallow: [...new Set(cut.map(([commit = ""]) => commit))].filter(isCommit) };
}

async function allowedFolder(source: GitSource, folders: readonly string[]) {
  const path = await realpath(fileURLToPath(source.url)).catch(() => undefined);
  const allowed = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  const isAllowed =
    path !== undefined && allowed.some((folder) => folder !== undefined && (path === folder || path.startsWith(folder + sep)));
  // What is there and what is not are told apart for nobody who may not read it.
  if (!isAllowed) throw notAllowed(source, "file:// is for repositories that are in the folders of HLVM_SANDBOX_GIT_FOLDERS");
  return inspectFolder(path);
}

function notAllowed({ url }: GitSource, why: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "repository_not_allowed",
    message: `The repository ${url.pathname} cannot be cloned: ${why}.`,
    advice: "Have the operator allow the folder that it lies in, or give an https:// address.",
  });
}
