import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FoundInstructions, InstructionsAsked } from "./isolation.ts";
import type { Placements } from "./placement/placements.ts";
import type { PreparedWorkspaces } from "./prepared/prepared-workspaces.ts";
import type { Owner } from "./receipts.ts";
import type { Sessions } from "./sessions.ts";

export interface AskedWorkspace extends InstructionsAsked {
  /** Empty: the folder that `path` names. */
  readonly sessionId: string;
  readonly path: string;
}

export interface WorkspaceInstructions extends FoundInstructions {
  /** By this name a person trusts the workspace. */
  readonly workspace: string;
}

interface Parts {
  readonly sessions: Pick<Sessions, "find" | "open" | "get" | "close">;
  readonly prepared: Pick<PreparedWorkspaces, "originName">;
  readonly placements: Pick<Placements, "requireNotElsewhere">;
  /** For room for the workspace's sandbox. */
  readonly wait: { readonly milliseconds: number; readonly signal: AbortSignal };
}

/**
 * Reads the files with instructions of a workspace, in its sandbox: what leads out of it leads nowhere.
 * @throws HlvmError `session_not_found` where it is another person's or open nowhere, what `Sessions.open` throws
 */
export async function workspaceInstructions(owner: Owner, asked: AskedWorkspace, parts: Parts): Promise<WorkspaceInstructions> {
  if (asked.sessionId === "") return ofFolder(owner, asked, parts);
  const { sessions, prepared, placements, wait } = parts;
  const { sessionId } = asked;
  if ((await sessions.find(owner, sessionId)) === undefined) {
    const placement = await placements.requireNotElsewhere(owner, sessionId);
    if (placement !== undefined) await sessions.open(owner, sessionId, placement.workspace);
  }
  const session = await sessions.get(owner, sessionId);
  const found = await session.readInstructions(asked, wait.milliseconds, wait.signal);
  return {
    workspace: (await prepared.originName(owner, sessionId)) ?? session.workspace.path,
    files: found.files,
    more: found.more,
    identity: found.identity,
  };
}

/** A session is opened for it and closed again. */
async function ofFolder(owner: Owner, asked: AskedWorkspace, { sessions, wait }: Parts): Promise<WorkspaceInstructions> {
  if (asked.path === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "workspace_missing",
      message: "Neither a session nor a folder is named.",
      advice: "Name one of them.",
    });
  const sessionId = randomUUID();
  const { path } = await sessions.open(owner, sessionId, asked.path);
  try {
    const session = await sessions.get(owner, sessionId);
    const found = await session.readInstructions(asked, wait.milliseconds, wait.signal);
    return { workspace: path, files: found.files, more: found.more, identity: found.identity };
  } finally {
    await sessions.close(owner, sessionId);
  }
}
