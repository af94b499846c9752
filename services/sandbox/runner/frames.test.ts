import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, FrameDecoder, MAXIMUM_FRAME_BYTES } from "./frames.ts";

describe("FrameDecoder", () => {
  it("gives back what was encoded, however the bytes are cut", () => {
    const messages = fc.array(fc.dictionary(fc.string(), fc.string()), { maxLength: 5 });
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(encodeFrame));
        const decoder = new FrameDecoder();
        const received: unknown[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = cuts[turn % cuts.length]!;
          received.push(...decoder.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(received).toEqual(sent.map((message) => ({ ...message })));
      }),
    );
  });

  it("refuses a frame over the limit before it has arrived", () => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(MAXIMUM_FRAME_BYTES + 1);
    expect(() => [...new FrameDecoder().push(length)]).toThrow("over the limit");
  });

  it("refuses what is not JSON", () => {
    const frame = encodeFrame({ a: 1 });
    frame[4] = 0x21;
    expect(() => [...new FrameDecoder().push(frame)]).toThrow(SyntaxError);
  });
});
