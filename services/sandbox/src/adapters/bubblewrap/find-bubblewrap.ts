import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** `--size` for temporary file systems came with 0.7; 0.8 is what Debian 12 has, and the oldest that was tried. */
const OLDEST_VERSION = [0, 8] as const;
const VERSION_DEADLINE_MILLISECONDS = 5_000;

export interface Bubblewrap {
  readonly path: string;
  readonly version: string;
}

/**
 * Finds bwrap by its path, or by its name on the search path.
 * @throws HlvmError `bubblewrap_not_found`, `bubblewrap_too_old`
 */
export async function findBubblewrap(nameOrPath: string, searchPath: string): Promise<Bubblewrap> {
  const candidates = nameOrPath.includes("/") ? [nameOrPath] : searchPath.split(delimiter).map((folder) => join(folder, nameOrPath));
  const path = candidates.find(isExecutable);
  if (path === undefined) throw notFound(nameOrPath);
  const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: VERSION_DEADLINE_MILLISECONDS }).catch((cause: unknown) => {
    throw notFound(path, cause);
  });
  const version = /(\d+)\.(\d+)\S*/.exec(stdout);
  if (version === null) throw notFound(path, new Error(`it said ${stdout}`));
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]))
    throw new HlvmError({
      code: "failed_precondition",
      reason: "bubblewrap_too_old",
      message: `${path} is bubblewrap ${version[0]}; ${OLDEST_VERSION.join(".")} or newer is needed.`,
      advice: "Install a newer bubblewrap, or set HLVM_BWRAP to the path of one.",
    });
  return { path, version: version[0] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function notFound(nameOrPath: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "bubblewrap_not_found",
    message: `Tools cannot be isolated: the program ${nameOrPath} (bubblewrap) ${cause === undefined ? "is not installed" : "does not work"}.`,
    advice:
      "Install it: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch); or set HLVM_BWRAP to its path.",
    cause,
  });
}
