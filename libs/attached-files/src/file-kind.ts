import { readJpeg } from "./read-jpeg.ts";
import { readPng } from "./read-png.ts";
import { readWebp } from "./read-webp.ts";
import { UnreadableFile } from "./unreadable-file.ts";

export type ImageType = "image/png" | "image/jpeg" | "image/webp";

/** Pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export type FileKind = ({ readonly mediaType: ImageType } & ImageSize) | { readonly mediaType: "application/pdf" };

const PNG = "\x89PNG\r\n\x1a\n";
const END_OF_PDF = "%%EOF";

/**
 * What a file is, by its bytes and never by its name; undefined where it begins like none of these.
 * @throws UnreadableFile where it begins like an image or a PDF and is none that a model could be given
 */
export function fileKind(bytes: Uint8Array): FileKind | undefined {
  if (startsWith(bytes, PNG)) return { mediaType: "image/png", ...checked(readPng(bytes)) };
  if (startsWith(bytes, "\xff\xd8\xff")) return { mediaType: "image/jpeg", ...checked(readJpeg(bytes)) };
  if (startsWith(bytes, "RIFF") && startsWith(bytes.subarray(8), "WEBP")) return { mediaType: "image/webp", ...checked(readWebp(bytes)) };
  if (!startsWith(bytes, "%PDF-")) return undefined;
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(END_OF_PDF, 0, "latin1"))
    throw new UnreadableFile("its end is missing");
  return { mediaType: "application/pdf" };
}

function startsWith(bytes: Uint8Array, signature: string): boolean {
  if (bytes.length < signature.length) return false;
  for (let index = 0; index < signature.length; index++) if (bytes[index] !== signature.charCodeAt(index)) return false;
  return true;
}

function checked(size: ImageSize): ImageSize {
  if (size.width === 0 || size.height === 0) throw new UnreadableFile("it has no pixels");
  return size;
}
