const LENGTH_DIGITS = 4;
const SPECIAL = ["flush", "delimiter", "end"] as const;

/** What git sends: a line with its bytes, or one of the marks between lines. */
export type PktLine = Uint8Array | (typeof SPECIAL)[number];

/** A line as git reads it: its length in four hexadecimal digits, itself included, and its bytes. */
export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + LENGTH_DIGITS).toString(16).padStart(LENGTH_DIGITS, "0") + text;
}

export const FLUSH = "0000";
export const DELIMITER = "0001";

/** Reads git's lines from a body, whole ones only. @throws Error where it is no such body, or ends within a line */
export async function* readPktLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<PktLine> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= LENGTH_DIGITS) {
      const length = lengthAt(rest, at);
      if (length < SPECIAL.length) {
        yield SPECIAL[length]!;
        at += LENGTH_DIGITS;
        continue;
      }
      if (rest.length - at < length) break;
      yield rest.subarray(at + LENGTH_DIGITS, at + length);
      at += length;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new Error("the answer ended in the middle");
}

function lengthAt(bytes: Buffer, at: number): number {
  const digits = bytes.toString("latin1", at, at + LENGTH_DIGITS);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (length < 0 || length === LENGTH_DIGITS - 1) throw new Error("the answer is not what a git server sends");
  return length;
}

/** A line of words, without the line feed that may end it. */
export function lineText(line: PktLine): string {
  return typeof line === "string" ? "" : Buffer.from(line).toString("utf8").replace(/\n$/, "");
}
