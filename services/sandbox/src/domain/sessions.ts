import { setTimeout as wait } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import type { Isolation } from "./isolation.ts";
import { leaseLost } from "./placement/lease-term.ts";
import { alreadyBound, type Placements } from "./placement/placements.ts";
import { Receipts, sessionNotFound, type Owner, type Receipt, type ReceiptJournal } from "./receipts.ts";
import { SandboxAdmission } from "./sandbox-admission.ts";
import { Session } from "./session.ts";
import { SessionSandbox } from "./session-sandbox.ts";
import { Waiters } from "./waiters.ts";
import type { WorkspaceFolder, WorkspaceFolders } from "./workspace-folder.ts";

/** Whoever has just opened a session has a call for it. */
const JUST_USED_MILLISECONDS = 250;
/** Less than the deadline of whoever opens one. */
const LONGEST_WAIT_MILLISECONDS = 25_000;

export interface SessionsOptions {
  readonly isolation: Isolation;
  readonly folders: WorkspaceFolders;
  readonly journal: ReceiptJournal;
  readonly placements: Placements;
  /** Of them one that is idle gives way to the next; whoever needs a forgotten one opens it again. */
  readonly maximumOpen: number;
  /** Sessions whose sandboxes may be up at the same time. */
  readonly maximumSandboxes: number;
  /** A sandbox without a call for this long is stopped. */
  readonly idleMilliseconds: number;
  readonly log: Log;
}

/** The sessions whose workspaces are open. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #admission: SandboxAdmission;
  /** Who opens a session while all that may be open are in use. */
  readonly #opening = new Waiters();
  #isDraining = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#admission = new SandboxAdmission(options.maximumSandboxes);
  }

  /**
   * Binds a folder to a session and warms its sandbox where there is room; does not wait for it.
   * @throws HlvmError `workspace_already_bound`, `sandbox_draining`, `too_many_sessions` where none was idle for 25 s, what `Placements.claim` and `WorkspaceFolders.inspect` throw
   */
  async open(owner: Owner, sessionId: string, path: string): Promise<WorkspaceFolder> {
    const { folders, placements } = this.#options;
    this.#requireServing();
    const workspace = await folders.inspect(path, owner, sessionId).catch(async (cause: unknown) => {
      throw await placements.explain(cause, owner, { sessionId, path });
    });
    const known = this.#sessions.get(sessionId);
    known?.held.term.require();
    if (known !== undefined) requireSame(known, owner, sessionId, workspace);
    // The folder was made anew.
    if (known !== undefined && known.workspace.identity !== workspace.identity) await this.#forget(sessionId, known);
    const session = this.#sessions.get(sessionId) ?? (await this.#add(owner, sessionId, workspace));
    requireSame(session, owner, sessionId, workspace);
    if (session === known) session.receipts.renew(owner);
    if (this.#admission.admitIdle(session.sandbox)) session.sandbox.warm();
    return workspace;
  }

  /**
   * Ends the session's sandbox and forgets its receipts, also where an earlier process opened it. One that is not open is no error.
   * @throws HlvmError `session_not_found` where the session is another person's, `sandbox_moved`
   */
  async close(owner: Owner, sessionId: string): Promise<void> {
    const session = await this.find(owner, sessionId);
    session?.receipts.stop();
    if (session !== undefined) await this.#forget(sessionId, session);
    await this.#options.isolation.forget(sessionId);
    await Receipts.discard(this.#options.journal, sessionId, owner);
    await this.#options.placements.forget(owner, sessionId);
  }

  /** An open session, for a call. @throws HlvmError `session_not_found`, `sandbox_moved`, `sandbox_draining`, `sandbox_lease_lost` */
  async get(owner: Owner, sessionId: string): Promise<Session> {
    this.#requireServing();
    const session = await this.find(owner, sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  /**
   * An open session of this person; undefined where it is open nowhere.
   * @throws HlvmError `session_not_found` where it is another's, `sandbox_moved`, `sandbox_lease_lost`
   */
  async find(owner: Owner, sessionId: string): Promise<Session | undefined> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined && !isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    session?.held.term.require();
    if (session === undefined) await this.#options.placements.requireNotElsewhere(owner, sessionId);
    return session;
  }

  /** Whether a call happened, asked also for sessions of a replica that is gone. @throws what `find` throws */
  async receipt(owner: Owner, sessionId: string, callId: string): Promise<Receipt> {
    const { journal, placements } = this.#options;
    const session = this.#sessions.get(sessionId);
    if (session !== undefined && !isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    session?.held.term.require();
    const { hasReceiptsElsewhere = false } = session?.held ?? (await placements.requireNotElsewhere(owner, sessionId)) ?? {};
    const receipt = await (session?.receipts.find(callId) ?? Receipts.find(journal, sessionId, owner, callId));
    return receipt.state === "never_started" && hasReceiptsElsewhere ? { state: "unknown" } : receipt;
  }

  /** From now on neither sessions nor calls are taken. Resolves when the calls under way have ended, or after so many milliseconds. */
  async drain(limitMilliseconds: number): Promise<void> {
    this.#isDraining = true;
    const finished = Promise.all([...this.#sessions.values()].map((session) => session.finishCalls()));
    const cancelled = new AbortController();
    await Promise.race([finished, wait(limitMilliseconds, undefined, { signal: cancelled.signal }).catch(() => undefined)]);
    cancelled.abort();
  }

  /** The lease is lost: what runs is ended, and how it ended is nobody's to tell. */
  async abandon(): Promise<void> {
    for (const session of this.#sessions.values()) session.receipts.stop();
    await this.#forgetAll(leaseLost);
  }

  /** Ends every sandbox. */
  async closeAll(): Promise<void> {
    await this.#forgetAll(sessionNotFound);
  }

  async #forgetAll(why: (sessionId: string) => HlvmError): Promise<void> {
    await Promise.all([...this.#sessions].map(([sessionId, session]) => this.#forget(sessionId, session, why(sessionId))));
  }

  /** Opened again, it takes up its receipts and gets a new sandbox. @param why what its waiting calls are told */
  async #forget(sessionId: string, session: Session, why = sessionNotFound(sessionId)): Promise<void> {
    this.#sessions.delete(sessionId);
    this.#admission.forget(session.sandbox, why);
    this.#opening.wakeOne();
    await session.sandbox.close();
  }

  #requireServing(): void {
    if (this.#isDraining) throw draining();
  }

  async #add(owner: Owner, sessionId: string, workspace: WorkspaceFolder): Promise<Session> {
    const held = await this.#options.placements.claim(owner, sessionId, workspace);
    const receipts = await this.#openReceipts(owner, sessionId);
    const until = performance.now() + LONGEST_WAIT_MILLISECONDS;
    for (;;) {
      held.term.require();
      this.#requireServing();
      const addedMeanwhile = this.#sessions.get(sessionId);
      if (addedMeanwhile !== undefined) return addedMeanwhile;
      if (this.#sessions.size < this.#options.maximumOpen || this.#forgetOldest()) break;
      if (performance.now() > until) throw tooManySessions(this.#options.maximumOpen);
      await this.#opening.wait(JUST_USED_MILLISECONDS);
    }
    const { isolation, idleMilliseconds, log } = this.#options;
    const wakeOpening = (): void => this.#opening.wakeOne();
    const sandbox = new SessionSandbox({
      isolation,
      request: { sessionId, workspace },
      idleMilliseconds,
      log,
      onIdle: () => {
        this.#admission.admitWaiting();
        wakeOpening();
      },
    });
    const session = new Session(owner, { held, workspace, receipts, sandbox, admission: this.#admission, onIdle: wakeOpening });
    this.#sessions.set(sessionId, session);
    return session;
  }

  async #openReceipts(owner: Owner, sessionId: string): Promise<Receipts> {
    try {
      return await Receipts.open(this.#options.journal, sessionId, owner);
    } catch (thrown) {
      // The receipts are another person's, and older than the placement.
      if (thrown instanceof HlvmError && thrown.reason === "session_not_found") await this.#options.placements.forget(owner, sessionId);
      throw thrown;
    }
  }

  /** @returns whether one was idle */
  #forgetOldest(): boolean {
    const before = performance.now() - JUST_USED_MILLISECONDS;
    const idle = [...this.#sessions].filter(([, { isInUse, sandbox }]) => !isInUse && sandbox.lastUse < before);
    const [oldest] = idle.sort(([, one], [, other]) => one.sandbox.lastUse - other.sandbox.lastUse);
    if (oldest === undefined) return false;
    void this.#forget(...oldest);
    return true;
  }
}

function requireSame(session: Session, owner: Owner, sessionId: string, workspace: WorkspaceFolder): void {
  if (!isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
  if (session.workspace.path !== workspace.path) throw alreadyBound(sessionId, session.workspace.path);
}

function isOwnedBy({ owner }: Session, { organization, id }: Owner): boolean {
  return owner.organization === organization && owner.id === id;
}

function draining(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "sandbox_draining",
    message: "This replica of the sandbox service is ending and takes nothing new.",
    advice: "Try again in a moment: the session goes to another replica, or to this one when it is back.",
  });
}

function tooManySessions(maximum: number): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_sessions",
    message: `All ${maximum} sessions that can be open on this machine stayed at work for ${LONGEST_WAIT_MILLISECONDS / 1_000} s.`,
    advice: "Try again when another session has ended its call.",
  });
}
