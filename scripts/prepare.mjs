// Makes this checkout able to run: npm's packages as the lock files have them, a Node that is new enough, and bubblewrap.
// Plain JavaScript without a dependency, since it runs before anything is installed. Any Node has to get as far as being
// told that it is too old. It writes to standard error alone.
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { installBubblewrap } from "./prepare/bubblewrap.mjs";
import { requireMachine, thisMachine } from "./prepare/machine.mjs";
import { installNode, nodeOf } from "./prepare/node.mjs";
import { installNpmPackages, linkPostgresLibraries } from "./prepare/npm-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The Node that everything of ours runs under. */
export const node = nodeOf(root);

/** The folder that npm was called from. */
export const callerDirectory = process.env.INIT_CWD ?? process.cwd();

/** Where HLVM keeps its data: HLVM_DIR, else `~/.hlvm`. */
export const hlvmDirectory = process.env.HLVM_DIR ? resolve(callerDirectory, process.env.HLVM_DIR) : join(homedir(), ".hlvm");

/**
 * Installs what is missing, saying so.
 * @param {{directory: string}} options the HLVM directory, for programs of our own where the machine has none
 * @throws {NotPrepared}
 */
export function prepare({ directory }) {
  requireMachine(thisMachine());
  installNpmPackages(root, "installing the packages that package-lock.json names (npm ci; about a minute the first time) …");
  linkPostgresLibraries(root);
  installNode(root, directory);
  installBubblewrap(directory);
}
