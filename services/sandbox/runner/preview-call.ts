import { constants } from "node:fs";
import { failureOf } from "./failure-of.ts";
import { NO_FILE, openFileState, type FileState } from "./file-state.ts";
import { readTextFile } from "./text-file.ts";
import { editedText, type EditFileArguments } from "./tools/edit-file.ts";
import type { WriteFileArguments } from "./tools/write-file.ts";
import { openInside } from "./workspace-path.ts";

/** A longer text is not told. */
const SHOWN_CHARACTERS = 512 * 1024;

export interface Preview {
  /** Why it cannot be told; empty where it can. */
  readonly failure: string;
  readonly presentSha256: string;
  readonly presentBytes: number;
  /** Left out where either is no text, or too long. */
  readonly texts?: { readonly before: string; readonly after: string };
}

/** What a call of a file tool would make of the file that it writes. Nothing is changed. */
export async function previewCall(tool: string, argumentsJson: string): Promise<Preview> {
  const given = JSON.parse(argumentsJson) as (WriteFileArguments | EditFileArguments) & { readonly path: string };
  try {
    if (tool !== "write_file" && tool !== "edit_file") throw new Error(`${tool} writes no file`);
    const { sha256, bytes } = await stateAt(given.path);
    const before = sha256 === "" ? "" : await textAt(given.path);
    const after = before === undefined ? undefined : "content" in given ? given.content : editedText(before, given).edited;
    const isShown = before !== undefined && after !== undefined && before.length + after.length <= SHOWN_CHARACTERS;
    return { failure: "", presentSha256: sha256, presentBytes: bytes, ...(isShown ? { texts: { before, after } } : {}) };
  } catch (thrown) {
    return { failure: failureOf(thrown, given.path).message, presentSha256: "", presentBytes: 0 };
  }
}

/** What is there; a call that writes makes what is missing. */
async function stateAt(path: string): Promise<FileState> {
  try {
    const handle = await openInside(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await openFileState(handle);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (failureOf(thrown, path).errorCode === "not_found") return NO_FILE;
    throw thrown;
  }
}

/** Undefined where it is no text. */
async function textAt(path: string): Promise<string | undefined> {
  try {
    return (await readTextFile(path)).text;
  } catch {
    return undefined;
  }
}
