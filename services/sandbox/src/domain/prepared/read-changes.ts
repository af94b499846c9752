import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SandboxRequest } from "../isolation.ts";
import type { SandboxedGit } from "./sandboxed-git.ts";

/** With what is said about each file, one message holds it. */
const MAXIMUM_BYTES = 12 * 1024 * 1024;
const KINDS: Readonly<Record<string, ChangedContent["kind"]>> = { "100644": "file", "100755": "executable", "120000": "link" };
const NOTHING = "000000";
const END_OF_LIST = Buffer.from("\0\0");

/**
 * The files as they are now are compared with what the workspace began with by that repository, which no session can reach:
 * what a session did to its own .git counts for nothing. New objects go into the temporary folder. A repository within the
 * workspace is no file, and is named instead.
 */
const COMPARE = `
export GIT_DIR=/workspace/base.git GIT_WORK_TREE="/workspace/$1" GIT_INDEX_FILE=/tmp/index
export GIT_OBJECT_DIRECTORY=/tmp/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/base.git/objects
mkdir /tmp/objects
cd "/workspace/$1"
git read-tree "$2"
{ printf '.\\0'; find . -mindepth 2 -name .git -printf ':(exclude,literal)%h\\0'; } > /tmp/paths
git add -A --pathspec-from-file=/tmp/paths --pathspec-file-nul
git diff-index --cached --raw -z --no-renames --no-abbrev "$2"
find . -mindepth 2 -name .git -printf 'nested\\0%h\\0'
printf '\\0\\0'
git diff-index --cached --raw --no-renames --no-abbrev "$2" | cut -d ' ' -f 3,4 | tr ' ' '\\n' | sort -u | git cat-file --batch
`;

export interface ChangedContent {
  readonly kind: "file" | "executable" | "link";
  readonly bytes: Uint8Array;
}

export interface ChangedFile {
  /** Relative to the workspace, as its bytes are. */
  readonly path: Uint8Array;
  /** Absent: no file. */
  readonly before?: ChangedContent;
  readonly after?: ChangedContent;
}

export interface Changes {
  readonly files: readonly ChangedFile[];
  /** What cannot be told as files. */
  readonly leftOut: readonly string[];
}

interface Comparison {
  readonly name: string;
  readonly snapshot: string;
  readonly signal: AbortSignal;
}

/** What has changed in a prepared workspace since it was made. @throws HlvmError `changes_too_large`, `workspace_git_failed` */
export async function readChanges(git: SandboxedGit, folder: SandboxRequest, { name, snapshot, signal }: Comparison): Promise<Changes> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onOutput = (chunk: Buffer): boolean => {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    return bytes <= MAXIMUM_BYTES;
  };
  await git.require(folder, { text: COMPARE, words: [name, snapshot], profile: "read", signal, onOutput });
  if (bytes > MAXIMUM_BYTES) throw tooLarge();
  const output = Buffer.concat(chunks);
  // An empty list is the end alone; otherwise the last entry's own NUL comes before it.
  const end = output.indexOf(END_OF_LIST);
  const list = output.subarray(0, end);
  const start = list.length === 0 ? end + 2 : end + 3;
  return changesOf(fieldsOf(list), contentsOf(output.subarray(start)));
}

function fieldsOf(list: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at < list.length;) {
    const end = list.indexOf(0, at);
    fields.push(list.subarray(at, end === -1 ? list.length : end));
    at = end === -1 ? list.length : end + 1;
  }
  return fields;
}

function changesOf(fields: readonly Buffer[], contents: ReadonlyMap<string, Buffer>): Changes {
  const files: ChangedFile[] = [];
  const leftOut: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const path = fields[index + 1]!;
    const entry = fields[index]!.toString("latin1");
    const [modeBefore = "", modeAfter = "", idBefore = "", idAfter = ""] = entry.slice(1).split(" ");
    const before = contentOf(modeBefore, contents.get(idBefore));
    const after = contentOf(modeAfter, contents.get(idAfter));
    if (!entry.startsWith(":") || before === "unknown" || after === "unknown") leftOut.push(path.toString("utf8").replace(/^\.\//, ""));
    else files.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) });
  }
  return { files, leftOut };
}

function contentOf(mode: string, bytes: Buffer | undefined): ChangedContent | "unknown" | undefined {
  if (mode === NOTHING) return undefined;
  const kind = KINDS[mode];
  return kind === undefined || bytes === undefined ? "unknown" : { kind, bytes };
}

/** The answers of `git cat-file --batch`, by object id: `ID blob SIZE`, the bytes, a line feed. */
function contentsOf(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length;) {
    const lineEnd = output.indexOf(0x0a, at);
    if (lineEnd === -1) break;
    const [id = "", type, size] = output.toString("latin1", at, lineEnd).split(" ");
    at = lineEnd + 1;
    if (type !== "blob") continue;
    contents.set(id, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}

function tooLarge(): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "changes_too_large",
    message: `The session has changed more than ${MAXIMUM_BYTES / (1024 * 1024)} MiB of files.`,
    advice: "Have it remove what it has built, or add that to .gitignore: ignored files are left out.",
  });
}
