import pLimit from "p-limit";
import { EventQueue } from "../event-queue.ts";
import type { ImageRoots } from "../image-root.ts";
import type { Placements } from "../placement/placements.ts";
import { sessionNotFound, type Owner } from "../receipts.ts";
import { folderName, parseGitSource, requireReference } from "./git-source.ts";
import type { FetchPack } from "./pack-source.ts";
import { damaged, incomplete, notBeingSent, notPrepared, tooSlow, uploadDiffers } from "./preparation-errors.ts";
import { workspaceTooLarge, type PackFacts, type PreparedFolders, type PreparedRecord, type Upload } from "./prepared-folders.ts";
import { readChanges, type Changes } from "./read-changes.ts";
import type { SandboxedGit } from "./sandboxed-git.ts";
import { unpack } from "./unpack.ts";

const CLONE_MILLISECONDS = 600_000;
/** Each holds a processor for seconds, and memory for what it reads; sessions at work have the rest of the machine. */
const AT_A_TIME = 4;

export interface PreparedWorkspace extends Pick<PackFacts, "branch"> {
  readonly path: string;
  readonly commit: string;
}

export interface PreparedWorkspacesOptions {
  readonly folders: PreparedFolders;
  readonly git: SandboxedGit;
  readonly fetch: Readonly<Record<"https" | "file", FetchPack>>;
  readonly placements: Placements;
  readonly images: ImageRoots;
  /** Of one workspace. */
  readonly maximumBytes: number;
}

/** Workspaces that this service makes and keeps: of a repository somewhere, or of what a person sends. Each is one session's. */
export class PreparedWorkspaces {
  readonly #options: PreparedWorkspacesOptions;
  readonly #limit = pLimit(AT_A_TIME);
  readonly #unpacking = new Map<string, Promise<PreparedWorkspace>>();

  constructor(options: PreparedWorkspacesOptions) {
    this.#options = options;
  }

  /**
   * Makes the workspace of a session to be. What was begun and failed is removed.
   * @returns what is going on, in words; the workspace last
   * @throws HlvmError what `parseGitSource`, `FetchPack`, `unpack` and `Placements.claim` throw; `clone_too_slow`
   */
  async *clone(
    owner: Owner,
    { sessionId, url, ref }: { readonly sessionId: string; readonly url: string; readonly ref: string },
    signal: AbortSignal,
  ): AsyncGenerator<string | PreparedWorkspace, void> {
    const source = parseGitSource(url, ref);
    const record = { owner: idOf(owner), name: source.name, origin: source.kind === "https" ? source.url.href : "" };
    await this.#create(sessionId, record);
    const deadline = AbortSignal.timeout(CLONE_MILLISECONDS);
    const limit = AbortSignal.any([signal, deadline]);
    const events = new EventQueue<string | PreparedWorkspace>();
    if (this.#limit.activeCount >= AT_A_TIME) events.push("waiting for other workspaces to be made");
    const cloned = this.#limit(async () => {
      limit.throwIfAborted();
      const facts = await this.#receive(sessionId, (take) =>
        this.#options.fetch[source.kind]({ sessionId, source, take, onProgress: (text) => events.push(text), signal: limit }),
      );
      events.push("unpacking");
      events.push(await this.#unpack(sessionId, record, facts, limit));
    })
      .catch(async (thrown: unknown) => {
        await this.#discard(owner, sessionId);
        throw deadline.aborted && !signal.aborted ? tooSlow(thrown) : thrown;
      })
      .finally(() => events.close());
    cloned.catch(() => undefined);
    yield* events.read();
    await cloned;
  }

  /** @returns the bytes of the pack that are here @throws HlvmError `workspace_too_large`, `upload_differs`, `image_not_found`, what `clone` throws */
  async beginUpload(owner: Owner, sessionId: string, { image, ...given }: Upload & { readonly image?: string }): Promise<number> {
    const upload = { ...given, name: folderName(given.name) };
    requireReference(upload.branch);
    const { folders, images, maximumBytes } = this.#options;
    if (image !== undefined) await images.find(image);
    if (upload.size > maximumBytes) throw workspaceTooLarge(maximumBytes);
    const known = await this.#find(owner, sessionId);
    if (known === undefined) await this.#create(sessionId, { owner: idOf(owner), name: upload.name, origin: "", image, upload });
    else if (known.ready === undefined && known.upload?.sha256 !== upload.sha256) throw uploadDiffers();
    return known?.ready === undefined ? folders.received(sessionId) : upload.size;
  }

  /** @returns the bytes that are here now @throws HlvmError `workspace_not_found`, `upload_out_of_order`, `workspace_too_large` */
  async receiveChunk(owner: Owner, sessionId: string, { offset, data }: { offset: number; data: Uint8Array }): Promise<number> {
    const { upload } = await this.#require(owner, sessionId);
    if (upload === undefined) throw notBeingSent(sessionId);
    if (offset + data.byteLength > upload.size) throw uploadDiffers();
    return this.#options.folders.append(sessionId, offset, data);
  }

  /** @throws HlvmError `upload_incomplete`, `upload_damaged`, what `unpack` throws */
  async finishUpload(owner: Owner, sessionId: string, signal: AbortSignal): Promise<PreparedWorkspace> {
    const record = await this.#require(owner, sessionId);
    const { ready, upload } = record;
    if (ready !== undefined) return this.#opened(sessionId, record.name, ready);
    if (upload === undefined) throw notBeingSent(sessionId);
    const running = this.#unpacking.get(sessionId);
    if (running !== undefined) return running;
    const finished = this.#limit(() => this.#finish(sessionId, { ...record, upload }, signal)).finally(() =>
      this.#unpacking.delete(sessionId),
    );
    this.#unpacking.set(sessionId, finished);
    return finished;
  }

  /** What a session has changed since its workspace was made. @throws HlvmError `workspace_not_prepared`, what `readChanges` throws */
  async changes(owner: Owner, sessionId: string, signal: AbortSignal): Promise<Changes> {
    const { folders, git, placements } = this.#options;
    const record = await this.#find(owner, sessionId);
    if (record?.ready === undefined) {
      const path = "of its own";
      throw await placements.explain(notPrepared(sessionId), owner, { sessionId, path });
    }
    const { name, ready } = record;
    const folder = { sessionId, workspace: await folders.content(sessionId) };
    return this.#limit(() => readChanges(git, folder, { name, snapshot: ready.snapshot, signal }));
  }

  /** @throws HlvmError `session_not_found` where it is another person's, `sandbox_moved` */
  async isPrepared(owner: Owner, sessionId: string): Promise<boolean> {
    return (await this.#find(owner, sessionId))?.ready !== undefined;
  }

  /**
   * What a prepared workspace is a copy of, by which a person trusts it: its own folder is of one session. `git:` and the URL that
   * it was cloned from, or `copy:` and the name of the folder.
   */
  async originName(owner: Owner, sessionId: string): Promise<string | undefined> {
    const record = await this.#find(owner, sessionId);
    if (record?.ready === undefined) return undefined;
    return record.origin === "" ? `copy:${record.name}` : `git:${record.origin.replace(/\/+$/, "").replace(/\.git$/, "")}`;
  }

  /** Where there is none, or another person's, nothing is removed. */
  async remove(owner: Owner, sessionId: string): Promise<void> {
    const record = await this.#options.folders.read(sessionId);
    if (record !== undefined && isOwner(record, owner)) await this.#options.folders.remove(sessionId);
  }

  /** Removes what nobody has used for long. @param heldElsewhere sessions of other replicas, which may share the folders */
  async prune(heldElsewhere: ReadonlySet<string>): Promise<void> {
    const { folders } = this.#options;
    for (const sessionId of await folders.unused()) if (!heldElsewhere.has(sessionId)) await folders.remove(sessionId);
  }

  async #finish(sessionId: string, record: PreparedRecord & { readonly upload: Upload }, signal: AbortSignal): Promise<PreparedWorkspace> {
    const { folders } = this.#options;
    const { upload } = record;
    if (folders.received(sessionId) < upload.size) throw incomplete();
    if ((await folders.packHash(sessionId)) !== upload.sha256) {
      await folders.removePack(sessionId);
      throw damaged();
    }
    const { head, snapshot, branch, shallow } = upload;
    return this.#unpack(sessionId, record, { head, snapshot, branch, shallow }, signal);
  }

  async #receive(sessionId: string, fetch: (take: (chunk: Uint8Array) => void) => Promise<PackFacts>): Promise<PackFacts> {
    const pack = await this.#options.folders.openPack(sessionId);
    try {
      return await fetch(pack.take);
    } finally {
      pack.close();
    }
  }

  async #unpack(sessionId: string, { owner, name, origin, image }: PreparedRecord, facts: PackFacts, signal: AbortSignal) {
    const { folders, git, maximumBytes } = this.#options;
    const folder = { sessionId, workspace: await folders.content(sessionId) };
    await unpack(git, folder, { ...facts, name, origin, maximumBytes, signal });
    await folders.removePack(sessionId);
    await folders.write(sessionId, { owner, name, origin, image, ready: facts });
    return this.#opened(sessionId, name, facts);
  }

  async #opened(sessionId: string, name: string, { head, branch }: PackFacts): Promise<PreparedWorkspace> {
    const { path } = await this.#options.folders.workspace(sessionId, name);
    return { path, commit: head, branch };
  }

  async #create(sessionId: string, record: PreparedRecord): Promise<void> {
    const { folders, placements } = this.#options;
    await placements.requireNotElsewhere(record.owner, sessionId);
    await folders.create(sessionId, record);
    try {
      await placements.claim(record.owner, sessionId, await folders.workspace(sessionId, record.name));
    } catch (thrown) {
      await folders.remove(sessionId);
      throw thrown;
    }
  }

  async #discard(owner: Owner, sessionId: string): Promise<void> {
    await this.#options.folders.remove(sessionId);
    await this.#options.placements.forget(owner, sessionId);
  }

  async #require(owner: Owner, sessionId: string): Promise<PreparedRecord> {
    const record = await this.#find(owner, sessionId);
    if (record === undefined) throw notBeingSent(sessionId);
    return record;
  }

  async #find(owner: Owner, sessionId: string): Promise<PreparedRecord | undefined> {
    await this.#options.placements.requireNotElsewhere(owner, sessionId);
    const record = await this.#options.folders.read(sessionId);
    if (record !== undefined && !isOwner(record, owner)) throw sessionNotFound(sessionId);
    return record;
  }
}

export function isOwner({ owner }: PreparedRecord, { organization, id }: Owner): boolean {
  return owner.organization === organization && owner.id === id;
}

/** A principal is more than an owner: its roles are of the moment. */
function idOf({ organization, id }: Owner): Owner {
  return { organization, id };
}
