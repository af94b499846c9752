import { execFile } from "node:child_process";
import { accessSync, constants, mkdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@hlvm/errors/message-of";
import { shortSize } from "../terminal/sizes.ts";
import { fail, ok, warn, type Check } from "./check.ts";

const MINIMUM_NODE_MAJOR = 26;
const WARN_FREE_BYTES = 2 * 1024 ** 3;
const FAIL_FREE_BYTES = 256 * 1024 ** 2;
const PROGRAM_DEADLINE_MILLISECONDS = 5_000;
const execute = promisify(execFile);

export function nodeCheck(version: string): Check {
  if (Number.parseInt(version, 10) >= MINIMUM_NODE_MAJOR) return ok("Node", version);
  return fail("Node", `${version}, and ${MINIMUM_NODE_MAJOR} is needed`, "Run `npm install` in the repository: it brings its own Node.");
}

export function directoryCheck(directory: string): Check {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return privateCheck("data folder", directory, statSync(directory).mode, "0700", `chmod 700 ${directory}`);
  } catch (cause) {
    return fail("data folder", `${directory} cannot be used: ${messageOf(cause)}`, "Make it writable, or set HLVM_DIR to another folder.");
  }
}

export function tokenFileCheck(file: string): Check {
  try {
    return privateCheck("token file", file, statSync(file).mode, "0600", `chmod 600 ${file}`);
  } catch (cause) {
    return fail("token file", messageOf(cause), "Run `hlvm down`, then `hlvm up`: the mesh makes it when it starts.");
  }
}

function privateCheck(name: string, path: string, mode: number, wanted: string, command: string): Check {
  const found = `0${(mode & 0o777).toString(8)}`;
  if ((mode & 0o077) === 0) return ok(name, `${path} (${found})`);
  return warn(name, `${path} has mode ${found}: others on this machine can get at it; ${wanted} is right`, `Run \`${command}\`.`);
}

export function diskCheck(directory: string): Check {
  try {
    const { bavail, bsize } = statfsSync(directory);
    const free = bavail * bsize;
    const detail = `${shortSize(free)} free for ${directory}`;
    const advice = "Make room, or set HLVM_DIR to a folder on another disk.";
    if (free < FAIL_FREE_BYTES) return fail("disk", detail, advice);
    return free < WARN_FREE_BYTES ? warn("disk", detail, advice) : ok("disk", detail);
  } catch (cause) {
    return fail("disk", messageOf(cause), "Make the folder readable, or set HLVM_DIR to another one.");
  }
}

/**
 * bubblewrap on the PATH, else where the installation has put it for HLVM alone.
 * @param chosen the one that a person wants instead; empty: none
 */
export async function bubblewrapCheck(chosen: string, directory: string): Promise<Check> {
  const name = "bubblewrap";
  for (const program of chosen === "" ? ["bwrap", join(directory, "bin", "bwrap")] : [chosen]) {
    try {
      const { stdout } = await execute(program, ["--version"], { timeout: PROGRAM_DEADLINE_MILLISECONDS });
      return ok(name, stdout.trim());
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT")
        return fail(name, `${program} --version failed: ${messageOf(cause)}`, "Install it anew.");
    }
  }
  if (chosen !== "") return fail(name, `${chosen} is not there`, "Set HLVM_BWRAP to where bwrap is, or do not set it.");
  return fail(name, "not installed", "Install it: `apt-get install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`.");
}
