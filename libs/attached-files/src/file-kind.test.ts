import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkFile, checkFilesTogether } from "./check-files.ts";
import { fileKind } from "./file-kind.ts";
import { UnreadableFile } from "./unreadable-file.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const png = Buffer.from(PIXEL, "base64");

function sized(width: number, height: number): Buffer {
  const copy = Buffer.from(png);
  copy.writeUInt32BE(width, 16);
  copy.writeUInt32BE(height, 20);
  return copy;
}

const frame = [0xff, 0xc0, 0, 17, 8, 0x01, 0xe0, 0x02, 0x80, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, ...frame, 0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9]);

function webp(...chunks: readonly (readonly [string, readonly number[]])[]): Buffer {
  const bodies = chunks.map(([type, body]) => {
    const head = Buffer.alloc(8);
    head.write(type, "latin1");
    head.writeUInt32LE(body.length, 4);
    return Buffer.concat([head, Buffer.from(body), Buffer.alloc(body.length % 2)]);
  });
  const head = Buffer.from("RIFF....WEBP", "latin1");
  return Buffer.concat([head, ...bodies]);
}

const lossy = [0, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01];
const extended = (flags: number): number[] => [flags, 0, 0, 0, 0x7f, 0x02, 0, 0xdf, 0x01, 0];

describe("what a file is", () => {
  it.each([
    ["PNG", png, { mediaType: "image/png", width: 1, height: 1 }],
    ["JPEG", jpeg, { mediaType: "image/jpeg", width: 640, height: 480 }],
    ["lossy WebP", webp(["VP8 ", lossy]), { mediaType: "image/webp", width: 640, height: 480 }],
    ["lossless WebP", webp(["VP8L", [0x2f, 0x7f, 0xc2, 0x77, 0]]), { mediaType: "image/webp", width: 640, height: 480 }],
    ["extended WebP", webp(["VP8X", extended(0)], ["VP8 ", lossy]), { mediaType: "image/webp", width: 640, height: 480 }],
    ["PDF", Buffer.from("%PDF-1.7\n%%EOF\n"), { mediaType: "application/pdf" }],
    ["text", Buffer.from("Hello"), undefined],
    ["a picture of another kind", Buffer.from("GIF89a"), undefined],
  ])("is told from its bytes: %s", (_, bytes, kind) => {
    expect(fileKind(bytes)).toEqual(kind);
  });

  const animation = Buffer.concat([png.subarray(0, 33), Buffer.from("\0\0\0\x08acTL\0\0\0\x02\0\0\0\0....", "latin1"), png.subarray(33)]);
  it.each([
    ["an animated PNG", animation, "it is animated"],
    ["an animated WebP", webp(["VP8X", extended(2)], ["VP8 ", lossy]), "it is animated"],
    ["a WebP with hidden frames", webp(["VP8X", extended(0)], ["ANIM", [0, 0]]), "it is animated"],
    ["a cut PNG", png.subarray(0, 40), "its end is missing"],
    ["a cut JPEG", jpeg.subarray(0, -2), "its end is missing"],
    ["a JPEG without a header", Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9]), "it has no header"],
    ["a PNG without pixels", sized(0, 1), "it has no pixels"],
    ["a cut PDF", Buffer.from("%PDF-1.7\n"), "its end is missing"],
  ])("is refused: %s", (_, bytes, why) => {
    expect(() => fileKind(bytes)).toThrow(new UnreadableFile(why));
    expect(() => checkFile("a", bytes)).toThrow(expect.objectContaining({ reason: "attachment_not_readable" }));
  });

  it("throws nothing but its own error, whatever the bytes", () => {
    const whole = [png, jpeg, animation, webp(["VP8 ", lossy]), webp(["VP8X", extended(0)], ["VP8 ", lossy])];
    const spoiled = fc
      .tuple(fc.constantFrom(...whole), fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }), fc.nat(90))
      .map(([bytes, changes, length]) => {
        const copy = Buffer.from(bytes);
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        return copy.subarray(0, Math.max(length, 12));
      });
    const isFine = (bytes: Uint8Array): boolean => {
      try {
        const kind = fileKind(bytes);
        return kind === undefined || !("width" in kind) || Math.min(kind.width, kind.height) > 0;
      } catch (thrown) {
        return thrown instanceof UnreadableFile;
      }
    };
    fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), spoiled), isFine), { numRuns: 2_000 });
  });
});

describe("what may be attached", () => {
  it("bounds size, pixels and number", () => {
    const tooLarge = expect.objectContaining({ reason: "attachment_too_large" }) as Error;
    expect(checkFile("a.png", sized(8_000, 8_000))).toMatchObject({ width: 8_000 });
    expect(() => checkFile("a.png", sized(8_001, 1))).toThrow(tooLarge);
    expect(() => checkFile("a.png", Buffer.concat([png, Buffer.alloc(3_500_000)]))).toThrow(tooLarge);
    expect(() => checkFile("a.pdf", Buffer.concat([Buffer.from("%PDF-1.7 %%EOF"), Buffer.alloc(6 * 1024 * 1024)]))).toThrow(tooLarge);
    expect(() => checkFilesTogether(Array.from({ length: 9 }, () => 1))).toThrow(tooLarge);
    expect(() => checkFilesTogether([3_000_000, 3_000_000, 3_000_000])).toThrow(tooLarge);
  });
});
