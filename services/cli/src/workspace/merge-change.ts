import { lstatSync, readFileSync, readlinkSync, writeFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { ChangedFile_Content_Kind as Kind, type ChangedFile, type ChangedFile_Content } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { runGit } from "./run-git.ts";

const EXECUTABLE = 0o100;
/** Of `git merge-file`: more is an error, not a number of conflicts. */
const MOST_CONFLICTS = 127;

/** What stands at a path; undefined: no file. */
export type Content = Pick<ChangedFile_Content, "kind" | "bytes"> | undefined;

export type Merged =
  /** What the session did is here already. */
  | { readonly outcome: "same" }
  | { readonly outcome: "clean"; readonly content: Content }
  /** With markers, where the conflict is within a text. */
  | { readonly outcome: "conflict"; readonly why: string; readonly marked?: Content };

export interface MergedFile {
  readonly path: string;
  readonly change: "added" | "modified" | "deleted";
  /** As it was found here. */
  readonly here: Content | "folder";
  readonly merged: Merged;
}

/** Three-way: what the session began with, what is here, and what the session made of it. */
export async function mergeChange(folder: string, path: string, change: ChangedFile, temporary: string): Promise<MergedFile> {
  const { before, after } = change;
  const here = contentHere(join(folder, path));
  const kind = before === undefined ? "added" : after === undefined ? "deleted" : "modified";
  return { path, change: kind, here, merged: await merge(before, here, after, temporary) };
}

/** @throws Error where it cannot be read */
export function contentHere(path: string): Content | "folder" {
  const stats: Stats | undefined = lstatOf(path);
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return { kind: Kind.LINK, bytes: new Uint8Array(readlinkSync(path, { encoding: "buffer" })) };
  if (!stats.isFile()) return "folder";
  return { kind: (stats.mode & EXECUTABLE) === 0 ? Kind.FILE : Kind.EXECUTABLE, bytes: new Uint8Array(readFileSync(path)) };
}

/** Also where a file stands in the place of a folder above. */
function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw thrown;
  }
}

export function isSame(one: Content, other: Content): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.kind === other.kind && Buffer.from(one.bytes).equals(other.bytes);
}

async function merge(before: Content, here: Content | "folder", after: Content, temporary: string): Promise<Merged> {
  if (here === "folder") return { outcome: "conflict", why: "a folder is here, or something else that is no file" };
  if (isSame(here, after)) return { outcome: "same" };
  if (isSame(here, before)) return { outcome: "clean", content: after };
  if (here === undefined) return { outcome: "conflict", why: "it was deleted here" };
  if (after === undefined) return { outcome: "conflict", why: "the session deleted it, and it was changed here" };
  if (before === undefined) return { outcome: "conflict", why: "the session made it, and another one is here" };
  if ([before, here, after].some(({ kind }) => kind === Kind.LINK))
    return { outcome: "conflict", why: "it is a link on one side, and was changed on both" };
  const kind = after.kind === before.kind ? here.kind : after.kind;
  return mergeTexts([here.bytes, before.bytes, after.bytes], kind, temporary);
}

async function mergeTexts(texts: readonly Uint8Array[], kind: Kind, temporary: string): Promise<Merged> {
  const files = texts.map((text, index) => {
    const file = join(temporary, String(index));
    writeFileSync(file, text);
    return file;
  });
  const labels = ["here", "before", "session"].flatMap((label) => ["-L", label]);
  const { exitCode, output } = await runGit(["merge-file", "-p", "--diff3", ...labels, ...files], { folder: temporary });
  if (exitCode < 0 || exitCode > MOST_CONFLICTS)
    return { outcome: "conflict", why: "it was changed here and by the session, and is no text" };
  const content = { kind, bytes: new Uint8Array(output) };
  if (exitCode === 0) return { outcome: "clean", content };
  return { outcome: "conflict", why: "the same lines were changed here and by the session", marked: content };
}
