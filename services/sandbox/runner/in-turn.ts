import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { workspacePath } from "./workspace-path.ts";

const last = new Map<string, Promise<unknown>>();

/**
 * Changes a file after every change of it that was begun before, by whatever path each of them named it.
 * @throws ToolFailure `outside_workspace`, and what `change` throws
 */
export async function inTurn<Result>(path: string, change: () => Promise<Result>): Promise<Result> {
  const target = await targetOf(path);
  const turn = (last.get(target) ?? Promise.resolve()).then(change);
  const over = turn.catch(() => undefined);
  last.set(target, over);
  try {
    return await turn;
  } finally {
    if (last.get(target) === over) last.delete(target);
  }
}

/** The real path of what is there, and from there on the names of what is still to be made. */
async function targetOf(path: string): Promise<string> {
  let missing = "";
  for (let at = workspacePath(path).absolute; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return join(real, missing);
    missing = join(basename(at), missing);
  }
}
