import type { ImageSize } from "./file-kind.ts";
import { UnreadableFile } from "./unreadable-file.ts";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12;
const HEADER_BYTES = 13;

/**
 * The size of a PNG, whose chunks are walked to its end: what is cut off is found here, and not by the provider.
 * @throws UnreadableFile, also for an animated one
 */
export function readPng(bytes: Uint8Array): ImageSize {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: ImageSize | undefined;
  let hasPixels = false;
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + FRAME_BYTES + length > bytes.length) break;
    if (size === undefined) {
      if (type !== "IHDR" || length !== HEADER_BYTES) throw new UnreadableFile("it has no header");
      size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) };
    }
    if (type === "acTL") throw new UnreadableFile("it is animated");
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND" && hasPixels) return size;
    at += FRAME_BYTES + length;
  }
  throw new UnreadableFile("its end is missing");
}
