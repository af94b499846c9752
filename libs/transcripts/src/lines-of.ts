import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import type { Tally } from "./read-turn.ts";

/** A pasted picture makes lines of megabytes; nothing that a person said does. */
const MAXIMUM_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface Line {
  /** From 0; lines that were dropped count. */
  readonly number: number;
  readonly text: string;
}

/** The whole lines of a file, also of one that is written to meanwhile: half a line waits until it is whole. `.zst` is decompressed. */
export async function* linesOf(file: string, tally: Tally): AsyncGenerator<Line> {
  const raw = createReadStream(file);
  const stream = file.endsWith(".zst") ? pipeline(raw, createZstdDecompress(), () => undefined) : raw;
  let parts: Buffer[] = [];
  let held = 0;
  let number = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      held += end - from;
      if (held > MAXIMUM_LINE_BYTES) tally.dropped++;
      else {
        parts.push(chunk.subarray(from, end));
        yield { number, text: Buffer.concat(parts).toString("utf8") };
      }
      number++;
      from = end + 1;
      parts = [];
      held = 0;
    }
    held += chunk.length - from;
    // The rest of a line that is too long is not kept either.
    if (held > MAXIMUM_LINE_BYTES) parts = [];
    else parts.push(chunk.subarray(from));
  }
}
