import { constants } from "node:fs";
import { readLines } from "../read-lines.ts";
import { RIPGREP } from "../ripgrep.ts";
import { ToolFailure, type ToolAnswer, type ToolContext } from "../tool.ts";
import { openInside, realWorkspacePath } from "../workspace-path.ts";

/** The seeds' limit. */
const MAXIMUM_ENTRIES = 5_000;
/** The most that one list shows, however long the names are. */
const SHOWN_BYTES = 200_000;
const DEFAULT_DEPTH = 2;
/** Files that are looked at, most of them only counted; more than this is not worth the wait. */
const MAXIMUM_FILES = 200_000;

export interface ListFilesArguments {
  readonly path?: string;
  readonly depth?: number;
  readonly pattern?: string;
}

export async function listFiles(given: ListFilesArguments, { signal }: ToolContext): Promise<ToolAnswer> {
  const folder = await realWorkspacePath(given.path ?? ".");
  await using handle = await openInside(given.path ?? ".", constants.O_RDONLY);
  const isFolder = (await handle.stat()).isDirectory();
  if (!isFolder) throw new ToolFailure("invalid_arguments", `${given.path ?? "."} is a file. Give a folder, or use file_stats.`);

  const depth = given.depth ?? (given.pattern === undefined ? DEFAULT_DEPTH : Number.POSITIVE_INFINITY);
  const files: string[] = [];
  const deeper = new Map<string, number>();
  let count = 0;
  const end = await readLines({
    command: RIPGREP,
    arguments: [
      "--no-config",
      "--files",
      "--hidden",
      "--no-require-git",
      "--glob=!.git",
      ...(given.pattern === undefined ? [] : [`--glob=${given.pattern}`]),
    ],
    directory: folder.absolute,
    signal,
    onLine: (path) => {
      const parts = path.split("/");
      if (parts.length <= depth) files.push(path);
      else {
        const top = `${parts.slice(0, depth).join("/")}/`;
        deeper.set(top, (deeper.get(top) ?? 0) + 1);
      }
      return ++count < MAXIMUM_FILES;
    },
  });
  if (end.exitCode === 2 && count === 0) throw new ToolFailure("invalid_arguments", `The files could not be listed: ${end.complaint}`);

  const folders = [...deeper].map(([path, below]) => `${path} (${below} ${below === 1 ? "file" : "files"})`);
  const entries = [...files, ...folders].sort();
  const shown = beginningOf(entries);
  const notes = [
    ...(entries.length > shown.length ? [`[${entries.length - shown.length} more entries; list a folder of them, or give a pattern]`] : []),
    ...(end.wasCut ? [`[Only the first ${MAXIMUM_FILES} files were looked at; list a folder below]`] : []),
  ];
  return {
    content: entries.length === 0 ? "[no files]" : [...shown, ...notes].join("\n"),
    summary: `${count} ${count === 1 ? "file" : "files"}`,
    truncated: notes.length > 0,
  };
}

function beginningOf(entries: readonly string[]): readonly string[] {
  let bytes = 0;
  const tooMuch = entries.findIndex((entry, index) => {
    bytes += Buffer.byteLength(entry) + 1;
    return index >= MAXIMUM_ENTRIES || bytes > SHOWN_BYTES;
  });
  return tooMuch === -1 ? entries : entries.slice(0, tooMuch);
}
