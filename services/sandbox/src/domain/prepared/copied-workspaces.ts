import { basename } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Isolation } from "../isolation.ts";
import type { Placements } from "../placement/placements.ts";
import type { Owner } from "../receipts.ts";
import type { Sessions } from "../sessions.ts";
import { archiveWorkspace, snapshotCopy, unpackArchive } from "./copy-files.ts";
import { folderName } from "./git-source.ts";
import type { PreparedFolders } from "./prepared-folders.ts";
import type { PreparedWorkspace } from "./prepared-workspaces.ts";
import type { SandboxedGit } from "./sandboxed-git.ts";

/** Also of a large workspace on a slow disk. */
const COPY_MILLISECONDS = 300_000;

export interface CopiedWorkspacesOptions {
  readonly folders: PreparedFolders;
  readonly git: SandboxedGit;
  readonly placements: Pick<Placements, "claim" | "forget">;
  readonly isolation: Pick<Isolation, "startRunner" | "copyCheckpoints" | "forget">;
}

export interface CopyAsked {
  /** The session whose workspace is copied, and where that is. */
  readonly sessionId: string;
  readonly path: string;
  readonly newSessionId: string;
  /** Whose the copy is. */
  readonly newOwner: Owner;
  /** The copy goes back to before the first of these. */
  readonly turns: readonly string[];
}

/** Makes workspaces for sessions to be of those that other sessions work in, as they are or as they were before some turn. */
export class CopiedWorkspaces {
  readonly #options: CopiedWorkspacesOptions;

  constructor(options: CopiedWorkspacesOptions) {
    this.#options = options;
  }

  /**
   * What was begun and failed is removed. Nothing may write in the original meanwhile: it is held in use.
   * @throws HlvmError `workspace_in_use`, `copy_incomplete`, `workspace_too_large`, `workspace_not_copied`, what `Sessions.open` throws
   */
  async copy(
    owner: Owner,
    { sessionId, path, newSessionId, newOwner, turns }: CopyAsked,
    sessions: Sessions,
    given: AbortSignal,
  ): Promise<PreparedWorkspace> {
    const { folders, git, placements, isolation } = this.#options;
    const signal = AbortSignal.any([given, AbortSignal.timeout(COPY_MILLISECONDS)]);
    const workspace = await sessions.open(owner, sessionId, path);
    const session = await sessions.get(owner, sessionId);
    const { organization, id } = newOwner;
    const { origin = "", image } = (await folders.read(sessionId)) ?? {};
    const record = {
      owner: { organization, id },
      name: folderName(basename(workspace.path)),
      origin,
      image,
    };
    await folders.create(newSessionId, record);
    try {
      await placements.claim(newOwner, newSessionId, await folders.workspace(newSessionId, record.name));
      const content = { sessionId: newSessionId, workspace: await folders.content(newSessionId) };
      await session.sandbox.whileStill(async () => {
        const pack = await folders.openPack(newSessionId);
        try {
          await archiveWorkspace(git, { sessionId, workspace }, pack.take, signal);
        } finally {
          pack.close();
        }
        await isolation.copyCheckpoints({ sessionId, workspace }, { sessionId: newSessionId, workspace: content.workspace });
      });
      await unpackArchive(git, content, record.name, signal);
      const copy = await folders.workspace(newSessionId, record.name);
      if (turns.length > 0) await this.#goBack(newSessionId, copy, turns);
      const snapshot = await snapshotCopy(git, content, record.name, signal);
      await folders.write(newSessionId, { ...record, ready: { head: "", snapshot, branch: copy.gitBranch, shallow: [] } });
      return { path: copy.path, commit: "", branch: copy.gitBranch };
    } catch (thrown) {
      await isolation.forget(newSessionId);
      await folders.remove(newSessionId);
      await placements.forget(newOwner, newSessionId);
      throw thrown;
    }
  }

  async #goBack(sessionId: string, workspace: PreparedCopy, turns: readonly string[]): Promise<void> {
    const runner = await this.#options.isolation.startRunner({ sessionId, workspace });
    try {
      const { failure, incomplete, paths } = await runner.rewind({ turns, preview: false, overwrite: true });
      const left = paths.find((one) => one.failure !== "");
      if (failure !== "" || incomplete || left !== undefined) throw incompleteCopy(failure || left?.failure || "");
    } finally {
      await runner.close();
    }
  }
}

type PreparedCopy = Awaited<ReturnType<PreparedFolders["workspace"]>>;

function incompleteCopy(why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "copy_incomplete",
    message: `What the workspace held at that point is not kept any more${why === "" ? "" : `: ${why}`}. Nothing was made.`,
    advice: "Fork at a later event, or without --files.",
  });
}
