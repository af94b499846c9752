import { posix } from "node:path";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** Tools whose path is a folder to work in, rather than a file. */
const FOLDER_TOOLS = new Set(["list_files", "search_code"]);
const DEEPEST = 16;
/** Of one turn; the rest is looked at when it is touched again. */
const MOST_FOLDERS = 64;

/**
 * The folders of a workspace, below its top, that the calls of a turn came into: each on the way to what they touched.
 * @param workspace its path on the user's machine, which models also use
 */
export function touchedFolders(calls: readonly Pick<ToolCallPart, "tool" | "argumentsJson">[], workspace: string): string[] {
  const folders = new Set<string>();
  for (const { tool, argumentsJson } of calls) {
    const { path, working_directory: directory } = argumentsOf(argumentsJson);
    if (typeof directory === "string") addWithParents(relative(directory, workspace), folders);
    if (typeof path !== "string") continue;
    const touched = relative(path, workspace);
    addWithParents(FOLDER_TOOLS.has(tool) ? touched : posix.dirname(touched), folders);
  }
  return [...folders].slice(0, MOST_FOLDERS);
}

function addWithParents(folder: string, folders: Set<string>): void {
  const names = folder.split("/").filter((name) => name !== "" && name !== ".");
  if (folder.startsWith("/") || names.includes("..") || names.length > DEEPEST) return;
  for (let depth = 1; depth <= names.length; depth++) folders.add(names.slice(0, depth).join("/"));
}

/** One that is outside stays absolute, or begins with `..`. */
function relative(path: string, workspace: string): string {
  const normal = posix.normalize(path);
  const root = ["/workspace", workspace].find((one) => normal === one || normal.startsWith(`${one}/`));
  return root === undefined ? normal : posix.relative(root, normal);
}

function argumentsOf(json: string): { readonly path?: unknown; readonly working_directory?: unknown } {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
