import { chownSync, mkdirSync, mkdtempSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkspaceOwner } from "./inspect-workspace.ts";

/**
 * A folder a session, kept beside its workspace: the homes that its open commands share, where what one installs the next one
 * finds and nothing else reads it; and its checkpoints.
 */
export class SessionHomes {
  readonly #folder: string;
  readonly #ofOthers = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** @returns the session's home on this machine, made where it is missing */
  open(sessionId: string, owner: WorkspaceOwner | undefined): string {
    if (owner !== undefined) return this.#openFor(sessionId, owner);
    const path = join(this.#folder, sessionId);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Removes those that nothing was added to for so long. */
  async prune(milliseconds: number): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const times = await Promise.all((await readdir(path)).map(async (inner) => (await stat(join(path, inner))).mtimeMs));
      const own = (await stat(path)).mtimeMs;
      if (Math.max(own, ...times) < Date.now() - milliseconds) await rm(path, { recursive: true, force: true });
    }
  }

  async remove(sessionId: string): Promise<void> {
    const paths = [join(this.#folder, sessionId), this.#ofOthers.get(sessionId)].filter((path) => path !== undefined);
    this.#ofOthers.delete(sessionId);
    await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })));
  }

  /** Another user may not look into the state directory: the home lies among the temporary files, and ends with the service. */
  #openFor(sessionId: string, { userId, groupId }: WorkspaceOwner): string {
    const known = this.#ofOthers.get(sessionId);
    if (known !== undefined) return known;
    const path = mkdtempSync(join(tmpdir(), "hlvm-home-"));
    chownSync(path, userId, groupId);
    this.#ofOthers.set(sessionId, path);
    return path;
  }
}
