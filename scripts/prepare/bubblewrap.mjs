import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { installAsRoot, isDebianLike, unpackWithoutRoot } from "./debian-package.mjs";
import { NotPrepared } from "./not-prepared.mjs";
import { firstOnPath, isExecutable, removeIfThere, searchPath } from "./programs.mjs";

const MISSING = "bubblewrap, which isolates what an agent runs, is missing";
const COMMANDS = {
  dnf: "sudo dnf install bubblewrap",
  pacman: "sudo pacman -S bubblewrap",
  zypper: "sudo zypper install bubblewrap",
};

/**
 * Sees to bubblewrap, where a person has not named one with HLVM_BWRAP: that one is theirs, and the sandbox says what is
 * wrong with it.
 * @param {string} directory the HLVM directory, for a bubblewrap of our own where root's rights are missing
 * @throws {NotPrepared}
 */
export function installBubblewrap(directory) {
  if (process.env.HLVM_BWRAP) return;
  const programs = join(directory, "bin");
  if ([...searchPath(), programs].some((folder) => isExecutable(join(folder, "bwrap")))) return;
  if (!isDebianLike()) {
    const manager = firstOnPath(Object.keys(COMMANDS));
    throw new NotPrepared(`${MISSING}. Install it: ${COMMANDS[manager] ?? "https://github.com/containers/bubblewrap"}`);
  }
  if (process.getuid() === 0) return installAsRoot("bubblewrap", MISSING);
  const root = unpackWithoutRoot("bubblewrap", MISSING, join(directory, "bin-packages"));
  const link = join(programs, "bwrap");
  mkdirSync(programs, { recursive: true, mode: 0o700 });
  removeIfThere(link);
  symlinkSync(join(root, "usr", "bin", "bwrap"), link);
  if (!isExecutable(link)) throw new NotPrepared(`The unpacked ${link} cannot be run. As root: apt-get install bubblewrap`);
}
