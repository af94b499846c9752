import { ToolFailure, type ToolErrorCode } from "./tool.ts";

const KNOWN: Readonly<Record<string, readonly [ToolErrorCode, string]>> = {
  ENOENT: ["not_found", "does not exist. list_files shows what there is"],
  ENOTDIR: ["not_found", "does not exist: a part of the path is a file, not a folder"],
  EISDIR: ["invalid_arguments", "is a folder. Name a file, or use list_files"],
  EACCES: ["not_readable", "may not be read or changed: its permissions do not allow it"],
  EPERM: ["not_readable", "may not be read or changed: its permissions do not allow it"],
  EROFS: ["not_readable", "is on a read-only file system"],
  ENOSPC: ["no_space", "could not be written: the disk of the workspace is full. Nothing was changed; free some space and try again"],
  EDQUOT: [
    "no_space",
    "could not be written: the disk quota of the workspace is used up. Nothing was changed; free some space and try again",
  ],
  EFBIG: ["too_large", "would be larger than the sandbox's limit for one file"],
  ELOOP: ["outside_workspace", "goes through a chain of symbolic links that cannot be followed"],
  ENAMETOOLONG: ["invalid_arguments", "has a name that is too long for the file system"],
};

/** What the model is told of an error of the file system on `path`. */
export function failureOf(thrown: unknown, path: string): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  const code = (thrown as NodeJS.ErrnoException).code ?? "";
  const [errorCode, words] = KNOWN[code] ?? ["internal", `could not be used (${code === "" ? String(thrown) : code})`];
  return new ToolFailure(errorCode, `${path} ${words}.`, thrown);
}

/** For notes that say why something could not be done. */
export function messageOfThrown(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
