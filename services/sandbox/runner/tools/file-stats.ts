import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { MAXIMUM_FILE_BYTES, readTextFile } from "../text-file.ts";
import { ToolFailure, type ToolAnswer } from "../tool.ts";
import { openInside, workspacePath } from "../workspace-path.ts";

export interface FileStatsArguments {
  readonly path: string;
}

export async function fileStats(given: FileStatsArguments): Promise<ToolAnswer> {
  await using handle = await openInside(given.path, constants.O_RDONLY);
  const stats = await handle.stat();
  const facts = [
    `path: ${workspacePath(given.path).relative || "."}`,
    `kind: ${await kindOf(given.path, stats)}`,
    `size: ${stats.size} bytes`,
    ...(stats.isFile() ? [await textFact(given.path, stats)] : []),
    `mode: ${(stats.mode & 0o7777).toString(8).padStart(4, "0")}`,
    `modified: ${stats.mtime.toISOString()}`,
  ];
  return { content: facts.join("\n"), summary: stats.isDirectory() ? "folder" : `${stats.size} bytes` };
}

async function kindOf(path: string, stats: Stats): Promise<string> {
  const kind = stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "special file";
  const { absolute } = workspacePath(path);
  const link = await lstat(absolute);
  return link.isSymbolicLink() ? `${kind}, by a symbolic link to ${await readlink(absolute)}` : kind;
}

async function textFact(path: string, stats: Stats): Promise<string> {
  if (stats.size > MAXIMUM_FILE_BYTES) return `content: too large to look into (the limit is ${MAXIMUM_FILE_BYTES} bytes)`;
  try {
    const { text } = await readTextFile(path);
    return `lines: ${text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0)}`;
  } catch (thrown) {
    if (thrown instanceof ToolFailure && thrown.errorCode === "binary_file") return "content: binary";
    if (thrown instanceof ToolFailure && thrown.errorCode === "invalid_utf8") return "content: text that is not valid UTF-8";
    throw thrown;
  }
}
