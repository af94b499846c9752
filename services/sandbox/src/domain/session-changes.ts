import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  ProtectedEntry_Kind as Kind,
  type ProtectedEntry,
  type RunnerResponse_Compared_Change,
} from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { Placements } from "./placement/placements.ts";
import type { PreparedWorkspaces } from "./prepared/prepared-workspaces.ts";
import type { ChangedContent, ChangedFile, Changes } from "./prepared/read-changes.ts";
import type { Owner } from "./receipts.ts";
import type { Sessions } from "./sessions.ts";

/** Of its owner: git knows no other. */
const EXECUTABLE = 0o100;

export interface SessionChange extends ChangedFile {
  readonly changedByOthers?: boolean;
}

export interface WorkspaceChanges extends Changes {
  readonly files: readonly SessionChange[];
  /** Changed files whose contents are not told, and why. */
  readonly leftOutChanges: readonly { readonly path: Uint8Array; readonly why: string }[];
  readonly furtherChanges: number;
}

interface Parts {
  readonly sessions: Pick<Sessions, "find" | "open" | "get">;
  readonly prepared: Pick<PreparedWorkspaces, "isPrepared" | "changes">;
  readonly placements: Pick<Placements, "requireNotElsewhere">;
}

/**
 * What a session has changed in whatever workspace it has: since that was prepared for it, or since its first checkpoint.
 * @throws HlvmError `session_not_found` where it is another person's, `no_checkpoints`, `changes_not_known`, `changes_too_large`
 */
export async function sessionChanges(owner: Owner, sessionId: string, parts: Parts, signal: AbortSignal): Promise<WorkspaceChanges> {
  const { sessions, prepared, placements } = parts;
  if (await prepared.isPrepared(owner, sessionId))
    return { ...(await prepared.changes(owner, sessionId, signal)), leftOutChanges: [], furtherChanges: 0 };
  if ((await sessions.find(owner, sessionId)) === undefined) {
    const placement = await placements.requireNotElsewhere(owner, sessionId);
    if (placement === undefined) throw noCheckpoints(sessionId);
    await sessions.open(owner, sessionId, placement.workspace);
  }
  const { failure, changes, changeCount } = await (await sessions.get(owner, sessionId)).sandbox.compare();
  if (failure !== "") throw notKnown(failure);
  const leftOut = changes.filter((change) => change.leftOut !== "");
  return {
    files: changes.filter((change) => change.leftOut === "").map(fileOf),
    leftOut: [],
    leftOutChanges: leftOut.map((change) => ({ path: pathOf(change), why: change.leftOut })),
    furtherChanges: changeCount - changes.length,
  };
}

function fileOf(change: RunnerResponse_Compared_Change): SessionChange {
  const before = contentOf(change.before);
  const after = contentOf(change.after);
  return {
    path: pathOf(change),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    changedByOthers: change.changedByOthers,
  };
}

function pathOf({ before, after }: RunnerResponse_Compared_Change): Uint8Array {
  return Buffer.from(after?.path ?? before?.path ?? "");
}

function contentOf(entry: ProtectedEntry | undefined): ChangedContent | undefined {
  if (entry === undefined || entry.kind === Kind.ABSENT) return undefined;
  const kind = entry.kind === Kind.LINK ? "link" : (entry.mode & EXECUTABLE) === 0 ? "file" : "executable";
  return { kind, bytes: entry.content ?? new Uint8Array() };
}

function noCheckpoints(sessionId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "no_checkpoints",
    message: `What the session ${sessionId} found in its workspace is not known here: it was not used for long, or has used no tool.`,
    advice: "`hlvm session show` tells what it did. Where it goes on, what it changes from then on is known.",
  });
}

function notKnown(failure: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "changes_not_known",
    message: `What this session has changed cannot be told: ${failure}.`,
    advice: "`hlvm session show` tells what it did.",
  });
}
