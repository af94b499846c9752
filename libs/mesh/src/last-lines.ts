import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const TAIL_BYTES = 8 * 1024;
const TAIL_LINES = 8;
/** Where in the code something happened tells a person nothing. */
const STACK_FRAME = /^\s+at /;

/**
 * The last lines of a log that were written behind an offset, without stack frames; empty where nothing was.
 * @throws Error of the file system
 */
export function lastLines(path: string, offset: number): string {
  const descriptor = openSync(path, "r");
  try {
    const size = fstatSync(descriptor).size;
    const from = Math.max(offset, size - TAIL_BYTES);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    readSync(descriptor, bytes, 0, bytes.length, from);
    const written = bytes.toString("utf8").trimEnd().split("\n");
    return written
      .filter((text) => !STACK_FRAME.test(text))
      .slice(-TAIL_LINES)
      .join("\n");
  } finally {
    closeSync(descriptor);
  }
}
