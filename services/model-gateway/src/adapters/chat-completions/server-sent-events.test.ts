import fc from "fast-check";
import { expect, it } from "vitest";
import { ServerSentEvents } from "./server-sent-events.ts";

function read(pieces: readonly Uint8Array[]): string[] {
  const events = new ServerSentEvents("p");
  return [...pieces.flatMap((piece) => events.take(piece)), ...events.end()];
}

it("gives the same events wherever the bytes are cut, with any line ending", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
  const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(events, cuts, fc.constantFrom("\n", "\r\n", "\r"), (wanted, sizes, ending) => {
      const lines = wanted.flatMap((event) => [": a comment", "id: 7", ...event.map((text) => `data: ${text}`), ""]);
      const bytes = new TextEncoder().encode(lines.map((each) => each + ending).join(""));
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)));
      const got = read([...pieces, bytes.subarray(at)]);
      const whole = wanted.map((event) => event.join("\n"));
      const done = whole.indexOf("[DONE]");
      expect(got).toEqual(done === -1 ? whole : whole.slice(0, done + 1));
    }),
  );
});

it("takes any bytes at all without failing", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 }), (pieces) => {
      expect(read(pieces)).toBeInstanceOf(Array);
    }),
  );
});

it("gives an error's field as an event, and a last event without its blank line, wherever the bytes are cut", () => {
  const bytes = new TextEncoder().encode('data: {"a":1}\r\n\r\nerror: {"code":500}\r\n\r\nevent: x\r\ndata: ü\r\ndata: 2');
  const whole = ['{"a":1}', '{"code":500}', "ü\n2"];
  for (let cut = 0; cut <= bytes.length; cut++) expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
  expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
});

it("takes a byte order mark for nothing at the beginning, and for text anywhere else", () => {
  const bytes = new TextEncoder().encode("\uFEFFdata: 1\n\ndata: \uFEFF2\n\n");
  for (let cut = 0; cut <= bytes.length; cut++) expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(["1", "\uFEFF2"]);
});

it("stops at an event of short lines that never ends", () => {
  const piece = new TextEncoder().encode(`data: ${"x".repeat(1024 * 1024)}\n`);
  expect(() => read(Array.from({ length: 10 }, () => piece))).toThrow(expect.objectContaining({ reason: "stream_malformed" }));
});

it("stops at a line that never ends", () => {
  const piece = new TextEncoder().encode("x".repeat(1024 * 1024));
  expect(() => read(Array.from({ length: 10 }, () => piece))).toThrow(expect.objectContaining({ reason: "stream_malformed" }));
});
