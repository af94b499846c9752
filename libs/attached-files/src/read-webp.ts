import type { ImageSize } from "./file-kind.ts";
import { UnreadableFile } from "./unreadable-file.ts";

const HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const ANIMATION_FLAG = 0x02;
const LOSSLESS_SIGNATURE = 0x2f;

/**
 * The size of a WebP, of whichever of its three forms; its chunks are walked to the picture's.
 * @throws UnreadableFile, also for an animated one
 */
export function readWebp(bytes: Uint8Array): ImageSize {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let canvas: ImageSize | undefined;
  for (let at = HEAD_BYTES; at + CHUNK_HEAD_BYTES <= bytes.length;) {
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = view.getUint32(at + 4, true);
    const body = at + CHUNK_HEAD_BYTES;
    if (body + length > bytes.length) break;
    if (type === "ANIM" || type === "ANMF") throw new UnreadableFile("it is animated");
    if (type === "VP8X" && length >= 10) {
      if ((bytes[body]! & ANIMATION_FLAG) !== 0) throw new UnreadableFile("it is animated");
      canvas = { width: 1 + threeBytes(view, body + 4), height: 1 + threeBytes(view, body + 7) };
    }
    if (type === "VP8 " && length >= 10) return canvas ?? lossySize(view, body);
    if (type === "VP8L" && length >= 5) return canvas ?? losslessSize(view, body);
    // Chunks begin at even places.
    at = body + length + (length % 2);
  }
  throw new UnreadableFile("its end is missing");
}

function threeBytes(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
}

function lossySize(view: DataView, body: number): ImageSize {
  const isKeyFrame = view.getUint8(body + 3) === 0x9d && view.getUint8(body + 4) === 0x01 && view.getUint8(body + 5) === 0x2a;
  if (!isKeyFrame) throw new UnreadableFile("it has no header");
  return { width: view.getUint16(body + 6, true) & 0x3fff, height: view.getUint16(body + 8, true) & 0x3fff };
}

function losslessSize(view: DataView, body: number): ImageSize {
  if (view.getUint8(body) !== LOSSLESS_SIGNATURE) throw new UnreadableFile("it has no header");
  const bits = view.getUint32(body + 1, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}
