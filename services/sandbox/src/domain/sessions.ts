import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import type { Isolation } from "./isolation.ts";
import { Receipts, sessionNotFound, type Owner, type Receipt, type ReceiptJournal } from "./receipts.ts";
import { SandboxAdmission } from "./sandbox-admission.ts";
import { Session } from "./session.ts";
import { SessionSandbox } from "./session-sandbox.ts";
import type { WorkspaceFolder, WorkspaceFolders } from "./workspace-folder.ts";

/** An open session without a sandbox is a few kilobytes; whoever needs a forgotten one opens it again. */
const MAXIMUM_OPEN_SESSIONS = 1_000;

export interface SessionsOptions {
  readonly isolation: Isolation;
  readonly folders: WorkspaceFolders;
  readonly journal: ReceiptJournal;
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

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#admission = new SandboxAdmission(options.maximumSandboxes);
  }

  /**
   * Binds a folder to a session and warms its sandbox where there is room; does not wait for it.
   * @throws HlvmError `workspace_already_bound`, and what `WorkspaceFolders.inspect` throws
   */
  async open(owner: Owner, sessionId: string, path: string): Promise<WorkspaceFolder> {
    const workspace = await this.#options.folders.inspect(path);
    const known = this.#sessions.get(sessionId);
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
   * @throws HlvmError `session_not_found` where the session is another person's
   */
  async close(owner: Owner, sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined && !isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    session?.receipts.stop();
    if (session !== undefined) await this.#forget(sessionId, session);
    await this.#options.isolation.forget(sessionId);
    await Receipts.discard(this.#options.journal, sessionId, owner);
  }

  /** An open session. @throws HlvmError `session_not_found` */
  get(owner: Owner, sessionId: string): Session {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || !isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    return session;
  }

  /** An open session of this person; undefined where it is not open here. @throws HlvmError `session_not_found` where it is another's */
  find(owner: Owner, sessionId: string): Session | undefined {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined && !isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    return session;
  }

  /** Whether a call happened, asked also for sessions of an earlier process. @throws HlvmError `session_not_found` */
  async receipt(owner: Owner, sessionId: string, callId: string): Promise<Receipt> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return Receipts.find(this.#options.journal, sessionId, owner, callId);
    if (!isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
    return session.receipts.find(callId);
  }

  /** Ends every sandbox. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions].map(([sessionId, session]) => this.#forget(sessionId, session)));
  }

  /** Opened again, it takes up its receipts and gets a new sandbox. */
  async #forget(sessionId: string, session: Session): Promise<void> {
    this.#sessions.delete(sessionId);
    this.#admission.forget(session.sandbox, sessionNotFound(sessionId));
    await session.sandbox.close();
  }

  async #add(owner: Owner, sessionId: string, workspace: WorkspaceFolder): Promise<Session> {
    const receipts = await Receipts.open(this.#options.journal, sessionId, owner);
    const addedMeanwhile = this.#sessions.get(sessionId);
    if (addedMeanwhile !== undefined) return addedMeanwhile;
    if (this.#sessions.size >= MAXIMUM_OPEN_SESSIONS) this.#forgetOldest();
    const { isolation, idleMilliseconds, log } = this.#options;
    const onIdle = (): void => this.#admission.admitWaiting();
    const sandbox = new SessionSandbox({ isolation, request: { sessionId, workspace }, idleMilliseconds, log, onIdle });
    const session = new Session(owner, { workspace, receipts, sandbox, admission: this.#admission });
    this.#sessions.set(sessionId, session);
    return session;
  }

  #forgetOldest(): void {
    const idle = [...this.#sessions].filter(([, { sandbox }]) => !sandbox.isInUse);
    const [oldest] = idle.sort(([, one], [, other]) => one.sandbox.lastUse - other.sandbox.lastUse);
    if (oldest === undefined) throw tooManySessions();
    void this.#forget(...oldest);
  }
}

function requireSame(session: Session, owner: Owner, sessionId: string, workspace: WorkspaceFolder): void {
  if (!isOwnedBy(session, owner)) throw sessionNotFound(sessionId);
  if (session.workspace.path !== workspace.path) throw alreadyBound(sessionId, session.workspace.path);
}

function isOwnedBy({ owner }: Session, { organization, id }: Owner): boolean {
  return owner.organization === organization && owner.id === id;
}

function alreadyBound(sessionId: string, path: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_already_bound",
    message: `The session ${sessionId} works on ${path} and cannot change to another folder.`,
    advice: "Start a new session for the other folder.",
  });
}

function tooManySessions(): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_sessions",
    message: `All ${MAXIMUM_OPEN_SESSIONS} sessions that can be open on this machine are at work.`,
    advice: "Try again when another session has ended its call.",
  });
}
