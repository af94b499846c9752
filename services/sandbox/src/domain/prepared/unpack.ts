import type { SandboxRequest } from "../isolation.ts";
import { workspaceTooLarge, type PackFacts } from "./prepared-folders.ts";
import type { SandboxedGit } from "./sandboxed-git.ts";

const MAXIMUM_FILES = 500_000;
/** Where nothing is committed, and what is detached, no name is told. */
const USUAL_BRANCH = "main";

/** A repository without files: what the workspace began with, kept where no session can change it. */
const STORE_PACK = `
git init -q --bare --template= base.git
[ -z "$1" ] || printf '%s\\n' "$1" > base.git/shallow
git --git-dir=base.git index-pack --stdin < pack > /dev/null
git --git-dir=base.git cat-file -e "$2^{tree}"
`;

/** For whatever file system the changes come home to. Files are written by \`read-tree\`, which refuses paths in .git and out of the folder; no filter is defined, and no hook is there. */
const CHECK_OUT = `
name=$1 head=$2 snapshot=$3 branch=$4 origin=$5
git init -q --template= -b "$branch" "$name"
cp base.git/objects/pack/* "$name/.git/objects/pack/"
[ ! -f base.git/shallow ] || cp base.git/shallow "$name/.git/shallow"
cd "$name"
[ -z "$origin" ] || git config remote.origin.url "$origin"
[ -z "$head" ] || { if [ -n "$6" ]; then git update-ref --no-deref HEAD "$head"; else git update-ref HEAD "$head"; fi; }
git -c core.protectHFS=true -c core.protectNTFS=true read-tree -u --reset "$snapshot"
[ "$head" = "$snapshot" ] || { if [ -n "$head" ]; then git read-tree --reset "$head"; else git read-tree --empty; fi; }
git update-index -q --refresh > /dev/null || true
`;

const LIST = 'git --git-dir=base.git ls-tree -r -l -z --full-tree "$1"';

export interface Unpacking extends PackFacts {
  readonly name: string;
  readonly origin: string;
  readonly maximumBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Makes the base and the workspace of the pack in the folder.
 * @throws HlvmError `workspace_too_large`, `workspace_git_failed`
 */
export async function unpack(git: SandboxedGit, folder: SandboxRequest, what: Unpacking): Promise<void> {
  const { name, head, snapshot, branch, shallow, origin, signal } = what;
  const write = { profile: "edit", signal } as const;
  await git.require(folder, { ...write, text: STORE_PACK, words: [shallow.join("\n"), snapshot] });
  await requireSmall(git, folder, what);
  const detached = branch === "" && head !== "" ? "detached" : "";
  await git.require(folder, { ...write, text: CHECK_OUT, words: [name, head, snapshot, branch || USUAL_BRANCH, origin, detached] });
}

/** Few bytes of a pack can stand for more files than any disk holds: they are counted before one is written. */
async function requireSmall(git: SandboxedGit, folder: SandboxRequest, { snapshot, maximumBytes, signal }: Unpacking): Promise<void> {
  let rest = "";
  let files = 0;
  let bytes = 0;
  const onOutput = (chunk: Buffer): boolean => {
    const entries = (rest + chunk.toString("latin1")).split("\0");
    rest = entries.pop()!;
    for (const entry of entries) {
      files += 1;
      bytes += Number(/^\d+ \w+ \w+ +(\d+)\t/.exec(entry)?.[1] ?? 0);
    }
    return files <= MAXIMUM_FILES && bytes <= maximumBytes;
  };
  await git.require(folder, { text: LIST, words: [snapshot], profile: "read", signal, onOutput });
  if (files > MAXIMUM_FILES || bytes > maximumBytes) throw workspaceTooLarge(maximumBytes);
}
