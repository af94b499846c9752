import { closeSync, constants, lstatSync, openSync, readdirSync, type BigIntStats } from "node:fs";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Git's own, and what package managers and builds make anew: large, and nobody's work. */
const LEFT_OUT = new Set([".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".gradle", ".mypy_cache", ".pytest_cache"]);
const MAXIMUM_ENTRIES = 50_000;

/** Is given each file, link and folder: its path in the workspace, and one that leads there whatever happens to its parents. */
export type Visit = (path: string, held: string, stat: BigIntStats) => void;

/**
 * Goes through a folder without following a link: each folder is opened by the descriptor of the one that it lies in, so that
 * nothing that takes the place of a folder meanwhile leads out.
 * @throws Error where it holds too much
 */
export function walk(root: string, visit: Visit): void {
  let entries = 0;
  const enter = (folder: string, path: string): void => {
    const descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      for (const name of readdirSync(`/proc/self/fd/${descriptor}`)) {
        // A name that is not UTF-8 could not be told or found again.
        if (LEFT_OUT.has(name) || name.includes("\ufffd")) continue;
        if (++entries > MAXIMUM_ENTRIES) throw new Error(`the workspace has more than ${MAXIMUM_ENTRIES} files`);
        const held = `/proc/self/fd/${descriptor}/${name}`;
        const stat = lstatSync(held, { bigint: true, throwIfNoEntry: false });
        if (stat === undefined) continue;
        const inner = path === "" ? name : `${path}/${name}`;
        visit(inner, held, stat);
        if (stat.isDirectory()) unlessGone(() => enter(held, inner));
      }
    } finally {
      closeSync(descriptor);
    }
  };
  enter(root, "");
}

/** Does something with a file that may be deleted, replaced or unreadable by now. @returns undefined where it is */
export function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw thrown;
  }
}
