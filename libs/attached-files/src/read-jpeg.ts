import type { ImageSize } from "./file-kind.ts";
import { UnreadableFile } from "./unreadable-file.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Markers between C0 and CF that are no frame's: tables of codes, an extension, arithmetic conditioning. */
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

/**
 * The size of a JPEG, from the first frame header before its pixels.
 * @throws UnreadableFile
 */
export function readJpeg(bytes: Uint8Array): ImageSize {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: ImageSize | undefined;
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) throw new UnreadableFile("its segments cannot be read");
    const marker = bytes[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === START_OF_SCAN) {
      if (size === undefined) throw new UnreadableFile("it has no header");
      if (!endsAfter(bytes, at)) break;
      return size;
    }
    const length = view.getUint16(at + 2);
    if (length < 2) throw new UnreadableFile("its segments cannot be read");
    if (isFrame(marker)) {
      if (at + 9 > bytes.length) break;
      size ??= { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    }
    at += 2 + length;
  }
  throw new UnreadableFile("its end is missing");
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker);
}

/** Cameras write things of their own behind the end. */
function endsAfter(bytes: Uint8Array, from: number): boolean {
  for (let at = bytes.lastIndexOf(END_OF_IMAGE); at > from; at = bytes.lastIndexOf(END_OF_IMAGE, at - 1))
    if (bytes[at - 1] === 0xff) return true;
  return false;
}
