import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { checkFile, checkFilesTogether, MAXIMUM_FILE_BYTES } from "@hlvm/attached-files/check-files";
import type { FileKind } from "@hlvm/attached-files/file-kind";
import { fromCurrentFolder } from "./from-current-folder.ts";

const MAXIMUM_ATTACHMENTS = 32;
const MAXIMUM_TEXT_BYTES = 2 * 1024 * 1024;
const MAXIMUM_TOGETHER_BYTES = 8 * 1024 * 1024;

export type Attached = AttachedText | AttachedMedia;

export interface AttachedText {
  /** As the person named it. */
  readonly path: string;
  readonly text: string;
}

/** An image or a document. */
export interface AttachedMedia {
  readonly path: string;
  readonly data: Uint8Array;
  readonly kind: FileKind;
}

/**
 * The files that go with a question: text in UTF-8 of at most 2 MB, images and PDF; 8 MB together, 32 files.
 * @throws HlvmError `attachment_not_readable`, `attachment_too_large`, `attachment_not_text`, `current_folder_gone`
 */
export function readAttachments(paths: readonly string[]): Attached[] {
  if (paths.length > MAXIMUM_ATTACHMENTS) throw tooLarge(`${paths.length} files are attached; ${MAXIMUM_ATTACHMENTS} may be.`);
  let together = 0;
  const attached = paths.map((path) => {
    const bytes = readSome(path, fromCurrentFolder(path));
    if (bytes.length > MAXIMUM_FILE_BYTES) throw tooLarge(`${path} is larger than 6 MB; a text may have 2 MB.`);
    together += bytes.length;
    if (together > MAXIMUM_TOGETHER_BYTES) throw tooLarge("The attached files are larger than 8 MB together.");
    return attachedOf(path, bytes);
  });
  checkMediaTogether(attached);
  return attached;
}

/** @throws HlvmError `attachment_too_large` */
export function checkMediaTogether(attached: readonly Attached[]): void {
  checkFilesTogether(attached.flatMap((one) => ("data" in one ? [one.data.length] : [])));
}

function attachedOf(path: string, bytes: Buffer): Attached {
  const kind = checkFile(path, bytes);
  if (kind !== undefined) return { path, data: bytes, kind };
  if (bytes.length > MAXIMUM_TEXT_BYTES) throw tooLarge(`${path} is larger than 2 MB.`);
  return { path, text: decode(path, bytes) };
}

/**
 * At most one byte more than is allowed, of a regular file: a pipe or a device may never begin or never end, and nothing
 * can interrupt the wait for it. Opening one does not wait.
 */
function readSome(path: string, absolute: string): Buffer {
  try {
    const buffer = Buffer.alloc(MAXIMUM_FILE_BYTES + 1);
    const file = openSync(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read)
        read = readSync(file, buffer, length, buffer.length - length, null);
      return buffer.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new HlvmError({
      code: "not_found",
      reason: "attachment_not_readable",
      message: `${path} cannot be attached: ${(cause as Error).message}.`,
      advice: "Give --attach a file that exists and that you may read.",
      cause,
    });
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Told below: both are files that no model can read as text.
  }
  throw new HlvmError({
    code: "invalid_argument",
    reason: "attachment_not_text",
    message: `${path} is not text in UTF-8, and no image or document that can be attached.`,
    advice: "Attach text, PNG, JPEG, WebP or PDF; the agent can look at other files in the workspace with its tools.",
  });
}

function tooLarge(message: string): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "attachment_too_large",
    message,
    advice: "Put large files into the workspace and name them in the question: the agent reads the parts that it needs.",
  });
}
