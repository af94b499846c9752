import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readServerSentEvents } from "./server-sent-events.ts";

async function read(pieces: readonly Uint8Array[]): Promise<string[]> {
  const events: string[] = [];
  for await (const event of readServerSentEvents(Readable.from(pieces), "p")) events.push(event);
  return events;
}

it("gives the same events wherever the bytes are cut, with any line ending", async () => {
  const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
  const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(events, cuts, fc.constantFrom("\n", "\r\n", "\r"), async (wanted, sizes, ending) => {
      const lines = wanted.flatMap((event) => [": a comment", "id: 7", ...event.map((text) => `data: ${text}`), ""]);
      const bytes = new TextEncoder().encode(lines.map((each) => each + ending).join(""));
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)));
      const got = await read([...pieces, bytes.subarray(at)]);
      const whole = wanted.map((event) => event.join("\n"));
      const done = whole.indexOf("[DONE]");
      expect(got).toEqual(done === -1 ? whole : whole.slice(0, done + 1));
    }),
  );
});

it("takes any bytes at all without failing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 }), async (pieces) => {
      expect(await read(pieces)).toBeInstanceOf(Array);
    }),
  );
});

it("gives an error's field as an event, and a last event without its blank line, wherever the bytes are cut", async () => {
  const bytes = new TextEncoder().encode('data: {"a":1}\r\n\r\nerror: {"code":500}\r\n\r\nevent: x\r\ndata: ü\r\ndata: 2');
  const whole = ['{"a":1}', '{"code":500}', "ü\n2"];
  for (let cut = 0; cut <= bytes.length; cut++) expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
  expect(await read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
});

it("takes a byte order mark for nothing at the beginning, and for text anywhere else", async () => {
  const bytes = new TextEncoder().encode("\uFEFFdata: 1\n\ndata: \uFEFF2\n\n");
  for (let cut = 0; cut <= bytes.length; cut++) expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(["1", "\uFEFF2"]);
});

it("stops at an event of short lines that never ends", async () => {
  const piece = new TextEncoder().encode(`data: ${"x".repeat(1024 * 1024)}\n`);
  await expect(read(Array.from({ length: 10 }, () => piece))).rejects.toMatchObject({ reason: "stream_malformed" });
});

it("stops at a line that never ends", async () => {
  const piece = new TextEncoder().encode("x".repeat(1024 * 1024));
  await expect(read(Array.from({ length: 10 }, () => piece))).rejects.toMatchObject({ reason: "stream_malformed" });
});
