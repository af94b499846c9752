import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { ToolResult } from "./tool-event.ts";

/** Each id is about 100 bytes for as long as the session is open. */
const MAXIMUM_CALLS = 50_000;

/** Whose session it is: nobody else opens, closes, uses or asks about it. */
export type Owner = Pick<Principal, "organization" | "id">;

/**
 * One line of a session's journal. A fingerprint is the tool's name and the hash of its arguments: what a repeated call
 * must have in common with the first.
 */
export type JournalEntry =
  | { readonly kind: "opened"; readonly organization: string; readonly owner: string }
  | { readonly kind: "started"; readonly callId: string; readonly fingerprint: string }
  /** Without a result where it was dropped to keep the journal small. */
  | { readonly kind: "ended"; readonly callId: string; readonly result?: ToolResult };

/** Where receipts outlive the service. */
export interface ReceiptJournal {
  /** All that was written for a session, in order; undefined where nothing was. */
  readonly read: (sessionId: string) => Promise<readonly JournalEntry[] | undefined>;
  /** Has written the entry when it returns. */
  readonly append: (sessionId: string, entry: JournalEntry) => void;
  /** Another process may have written since: what is written next goes to the journal as it is then. */
  readonly release: (sessionId: string) => void;
  /** Forgets all that was written for a session. */
  readonly remove: (sessionId: string) => void;
}

/** Whether a call happened. `unknown`: it started, and its end was not seen or is no longer known. */
export type Receipt = { readonly state: "never_started" | "running" | "unknown" } | { readonly state: "done"; readonly result: ToolResult };

/** The receipts of one open session: what makes a call happen at most once. */
export class Receipts {
  readonly #journal: ReceiptJournal;
  readonly #sessionId: string;
  /** Call id → what is known without looking into the journal. */
  /** Results of calls that were under way when the journal could no longer be written. */
  readonly #unwritten = new Map<string, ToolResult>();
  readonly #calls: Map<string, { fingerprint: string; state: "running" | "ended" | "unknown" }>;
  #isStopped = false;

  private constructor(journal: ReceiptJournal, sessionId: string, entries: readonly JournalEntry[]) {
    this.#journal = journal;
    this.#sessionId = sessionId;
    this.#calls = new Map();
    for (const entry of entries) {
      if (entry.kind === "started") this.#calls.set(entry.callId, { fingerprint: entry.fingerprint, state: "unknown" });
      const call = entry.kind === "ended" ? this.#calls.get(entry.callId) : undefined;
      if (call !== undefined) call.state = "ended";
    }
  }

  /**
   * Takes up what an earlier process wrote.
   * @throws HlvmError `session_not_found` where the session is another person's
   */
  static async open(journal: ReceiptJournal, sessionId: string, owner: Owner): Promise<Receipts> {
    journal.release(sessionId);
    const entries = await readOwn(journal, sessionId, owner);
    const receipts = new Receipts(journal, sessionId, entries ?? []);
    receipts.renew(owner);
    return receipts;
  }

  /** Forgets the receipts of a session that may or may not be open here. */
  static async discard(journal: ReceiptJournal, sessionId: string, owner: Owner): Promise<void> {
    if ((await readOwn(journal, sessionId, owner)) !== undefined) journal.remove(sessionId);
  }

  /** The receipt of a call whose session is not open here. */
  static async find(journal: ReceiptJournal, sessionId: string, owner: Owner, callId: string): Promise<Receipt> {
    const entries = await readOwn(journal, sessionId, owner);
    // Without a journal nothing says that the call did not happen.
    return entries === undefined ? { state: "unknown" } : receiptIn(entries, callId);
  }

  /** @throws HlvmError `call_id_reused` where the id belongs to another call */
  async find(callId: string, fingerprint?: string): Promise<Receipt> {
    const call = this.#calls.get(callId);
    if (call === undefined) return { state: "never_started" };
    if (fingerprint !== undefined && fingerprint !== call.fingerprint) throw reused(callId);
    if (call.state !== "ended") return { state: call.state };
    const unwritten = this.#unwritten.get(callId);
    if (unwritten !== undefined) return { state: "done", result: unwritten };
    const receipt = receiptIn((await this.#journal.read(this.#sessionId)) ?? [], callId);
    return receipt.state === "done" ? receipt : { state: "unknown" };
  }

  /** Writes that the session is in use: the journal begins with it, and its time to be kept begins anew. */
  renew({ organization, id }: Owner): void {
    this.#journal.append(this.#sessionId, { kind: "opened", organization, owner: id });
  }

  /** From now on nothing is written: what still runs belongs to a session that is closed. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Writes that the call is about to start. @throws HlvmError `call_already_started`, `session_not_found` where it was closed */
  begin(callId: string, fingerprint: string): void {
    if (this.#isStopped) throw sessionNotFound(this.#sessionId);
    if (this.#calls.has(callId))
      throw new HlvmError({
        code: "already_exists",
        reason: "call_already_started",
        message: `The call ${callId} was started before.`,
        advice: "Ask for its receipt; a call id is run once.",
      });
    if (this.#calls.size >= MAXIMUM_CALLS)
      throw new HlvmError({
        code: "resource_exhausted",
        reason: "too_many_calls",
        message: `The session has had ${MAXIMUM_CALLS} tool calls, the most that receipts are kept for.`,
        advice: "Go on in a new session.",
      });
    this.#writeUnwritten();
    this.#journal.append(this.#sessionId, { kind: "started", callId, fingerprint });
    this.#calls.set(callId, { fingerprint, state: "running" });
  }

  /** Whoever called gets the result, written or not: it has happened. Where the disk is full the next call waits for room instead. */
  end(callId: string, result: ToolResult): void {
    const call = this.#calls.get(callId)!;
    call.state = "unknown";
    if (this.#isStopped) return;
    this.#unwritten.set(callId, result);
    call.state = "ended";
    try {
      this.#writeUnwritten();
    } catch {
      // Said by the next call, which cannot begin.
    }
  }

  /** @throws HlvmError `receipt_not_written` */
  #writeUnwritten(): void {
    for (const [callId, result] of this.#unwritten) {
      this.#journal.append(this.#sessionId, { kind: "ended", callId, result });
      this.#unwritten.delete(callId);
    }
  }
}

async function readOwn(journal: ReceiptJournal, sessionId: string, owner: Owner): Promise<readonly JournalEntry[] | undefined> {
  const entries = await journal.read(sessionId);
  if (entries === undefined) return undefined;
  const opened = entries.find((entry) => entry.kind === "opened");
  if (opened?.organization !== owner.organization || opened.owner !== owner.id) throw sessionNotFound(sessionId);
  return entries;
}

function receiptIn(entries: readonly JournalEntry[], callId: string): Receipt {
  const own = entries.filter((entry) => entry.kind !== "opened").filter((entry) => entry.callId === callId);
  if (own.length === 0) return { state: "never_started" };
  const ended = own.find((entry) => entry.kind === "ended");
  return ended?.result === undefined ? { state: "unknown" } : { state: "done", result: ended.result };
}

export function sessionNotFound(sessionId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "session_not_found",
    message: `There is no session ${sessionId} in the sandbox.`,
    advice: "Open its workspace first.",
  });
}

function reused(callId: string): HlvmError {
  return new HlvmError({
    code: "already_exists",
    reason: "call_id_reused",
    message: `The call id ${callId} belongs to a call of another tool or with other arguments.`,
    advice: "Give every call an id of its own.",
  });
}
