import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EnvelopeSplitter, type Envelope } from "./envelope-splitter.ts";

const LIMIT = 1_000;
const envelopes = fc.array(fc.record({ flags: fc.nat(255), data: fc.uint8Array({ maxLength: 100 }) }), { maxLength: 10 });

function split(bytes: Uint8Array, cuts: readonly number[]): { found: Envelope[]; isEmpty: boolean } {
  const splitter = new EnvelopeSplitter(LIMIT);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  let start = 0;
  const found = ends.flatMap((end) => {
    const chunk = bytes.subarray(start, end);
    start = end;
    return splitter.push(chunk);
  });
  return { found, isEmpty: splitter.isEmpty };
}

describe("the splitter of envelopes", () => {
  it("finds what was put in, however the bytes are cut", () => {
    fc.assert(
      fc.property(envelopes, fc.array(fc.nat(2_000), { maxLength: 20 }), (given, cuts) => {
        const bytes = new Uint8Array(Buffer.concat(given.map(({ flags, data }) => encodeEnvelope(flags, data))));
        expect(split(bytes, cuts)).toEqual({ found: given, isEmpty: true });
      }),
    );
  });

  it("says that something is left when the bytes break off", () => {
    const bytes = encodeEnvelope(0, new Uint8Array(10));
    for (let length = 1; length < bytes.length; length++)
      expect(split(bytes.subarray(0, length), [3])).toEqual({ found: [], isEmpty: false });
  });

  it("refuses a message over the limit when it is announced, before it comes", () => {
    const announced = encodeEnvelope(0, new Uint8Array(LIMIT + 1)).subarray(0, 5);
    expect(() => split(announced, [])).toThrow(expect.objectContaining({ code: Code.ResourceExhausted }));
  });
});
