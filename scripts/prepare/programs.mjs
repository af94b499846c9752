import { spawnSync } from "node:child_process";
import { accessSync, constants, lstatSync, unlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Runs a program to its end, all that it writes going to standard error. @returns whether it succeeded */
export function run(program, programArguments, { cwd = "/", env = process.env } = {}) {
  return spawnSync(program, programArguments, { cwd, env, stdio: ["ignore", 2, 2] }).status === 0;
}

export function searchPath() {
  return (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}

export function isOnPath(program) {
  return searchPath().some((folder) => isExecutable(join(folder, program)));
}

/** The first of these programs that is on PATH. */
export function firstOnPath(programs) {
  return programs.find(isOnPath);
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Also a link that leads nowhere, which `rmSync` leaves alone in some versions of Node. */
export function removeIfThere(path) {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
}
