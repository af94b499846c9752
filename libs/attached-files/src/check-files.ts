import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fileKind, type FileKind } from "./file-kind.ts";
import { UnreadableFile } from "./unreadable-file.ts";

/** The largest file that may be attached at all: a PDF. */
export const MAXIMUM_FILE_BYTES = 6 * 1024 * 1024;
/** What providers take of one image once it is written in base64, which makes it a third longer. */
const MAXIMUM_IMAGE_BYTES = 3_500_000;
const MAXIMUM_PIXELS_A_SIDE = 8_000;
const MAXIMUM_FILES = 8;
/** With the rest of the message it stays below what one message of the mesh may hold. */
const MAXIMUM_TOGETHER_BYTES = 8 * 1024 * 1024;

/**
 * What an attached file is; undefined where it is neither an image nor a document that can be attached.
 * @throws HlvmError `attachment_not_readable`, `attachment_too_large`
 */
export function checkFile(path: string, bytes: Uint8Array): FileKind | undefined {
  const kind = kindOf(path, bytes);
  if (kind === undefined) return undefined;
  if (kind.mediaType === "application/pdf") {
    if (bytes.length > MAXIMUM_FILE_BYTES) throw tooLarge(`${path} is larger than 6 MB.`, "Attach the pages that matter.");
    return kind;
  }
  const advice = "Make it smaller, for example 1,600 pixels wide: models see no more of it.";
  if (bytes.length > MAXIMUM_IMAGE_BYTES) throw tooLarge(`${path} is larger than 3.5 MB.`, advice);
  if (Math.max(kind.width, kind.height) > MAXIMUM_PIXELS_A_SIDE)
    throw tooLarge(`${path} is ${kind.width}x${kind.height}; an image may have 8,000 pixels a side.`, advice);
  return kind;
}

/**
 * How many images and documents may go with one message.
 * @param sizes in bytes
 * @throws HlvmError `attachment_too_large`
 */
export function checkFilesTogether(sizes: readonly number[]): void {
  const advice = "Ask about some of them first, and go on in the same session with the others.";
  if (sizes.length > MAXIMUM_FILES) throw tooLarge(`${sizes.length} images and documents are attached; ${MAXIMUM_FILES} may be.`, advice);
  if (sizes.reduce((sum, size) => sum + size, 0) > MAXIMUM_TOGETHER_BYTES)
    throw tooLarge("The attached files are larger than 8 MB together.", advice);
}

function kindOf(path: string, bytes: Uint8Array): FileKind | undefined {
  try {
    return fileKind(bytes);
  } catch (cause) {
    if (!(cause instanceof UnreadableFile)) throw cause;
    throw new HlvmError({
      code: "invalid_argument",
      reason: "attachment_not_readable",
      message: `${path} cannot be attached: ${cause.message}.`,
      advice: "Attach a whole PNG, JPEG or WebP that is not animated, a whole PDF, or text in UTF-8.",
      cause,
    });
  }
}

function tooLarge(message: string, advice: string): HlvmError {
  return new HlvmError({ code: "resource_exhausted", reason: "attachment_too_large", message, advice });
}
