import { existsSync, fstatSync, openSync, renameSync, statSync } from "node:fs";

/** A log that has grown beyond this is put aside when its process starts; one such file is kept. */
const MAXIMUM_BYTES = 10 * 1024 * 1024;

export function rotateLog(path: string): void {
  if (existsSync(path) && statSync(path).size > MAXIMUM_BYTES) renameSync(path, `${path}.1`);
}

/** Opens a log to append to, and tells its size in bytes: what is written from now on lies behind that. */
export function openLog(path: string): { descriptor: number; size: number } {
  rotateLog(path);
  const descriptor = openSync(path, "a", 0o600);
  return { descriptor, size: fstatSync(descriptor).size };
}
