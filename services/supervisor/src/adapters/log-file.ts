import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";

/** A log that has grown beyond this is put aside when its part starts; one such file is kept. */
const MAXIMUM_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;
const TAIL_LINES = 8;
/** Where in the code something happened tells a person nothing. */
const STACK_FRAME = /^\s+at /;

export function rotateLog(path: string): void {
  if (existsSync(path) && statSync(path).size > MAXIMUM_BYTES) renameSync(path, `${path}.1`);
}

/** Opens a log to append to, and tells its size in bytes: what is written from now on lies behind that. */
export function openLog(path: string): { descriptor: number; size: number } {
  rotateLog(path);
  const descriptor = openSync(path, "a", 0o600);
  return { descriptor, size: fstatSync(descriptor).size };
}

/** The last lines that were written behind an offset, without stack frames; empty where nothing was. */
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
