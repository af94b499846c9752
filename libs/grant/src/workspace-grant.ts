import { HlvmError } from "@hlvm/errors/hlvm-error";
import { signJws, verifyJws } from "@hlvm/identity/compact-jws";
import type { PublicKeys } from "@hlvm/identity/public-keys";
import type { CurrentSigningKey } from "@hlvm/identity/signing-key";

/** The header that carries one. */
export const WORKSPACE_GRANT_HEADER = "hlvm-workspace-grant";

const TYPE = "hlvm-workspace-grant+jwt";
const ISSUER = "policy";
/** As long as a run may take; what is withdrawn meanwhile ends no run that goes on. */
export const WORKSPACE_GRANT_SECONDS = 24 * 60 * 60;

export type WorkspaceUse = "view" | "drive";

/** Lets somebody use the workspace of another person's session, who shared it with them. */
export interface WorkspaceGrant {
  readonly organization: string;
  readonly sessionId: string;
  /** Under whom the sandbox knows the workspace. */
  readonly owner: string;
  /** Who may use it. */
  readonly principal: string;
  /** Reading what is there and what was changed; to drive is to change it, too. */
  readonly use: WorkspaceUse;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** Only policy has the key for it. */
export function signWorkspaceGrant(grant: Omit<WorkspaceGrant, "expiresAt">, key: CurrentSigningKey): string {
  const signed: WorkspaceGrant = { ...grant, expiresAt: Math.floor(Date.now() / 1000) + WORKSPACE_GRANT_SECONDS };
  return signJws(signed, TYPE, key());
}

/** @returns under whom the sandbox knows the workspace @throws HlvmError `workspace_grant_refused`, which says what does not fit */
export function ownerByGrant(token: string, asked: Omit<WorkspaceGrant, "owner" | "expiresAt">, keys: PublicKeys): string {
  const grant = policys(token, keys);
  if (grant.expiresAt <= Date.now() / 1000) throw refused("it has expired");
  for (const field of ["organization", "sessionId", "principal"] as const)
    if (grant[field] !== asked[field]) throw refused(`it was given for another ${field}`);
  if (asked.use === "drive" && grant.use !== "drive") throw refused("it lets them look, and change nothing");
  return grant.owner;
}

function policys(token: string, keys: PublicKeys): WorkspaceGrant {
  try {
    const { claims, signer } = verifyJws(token, TYPE, keys);
    if (signer.service === ISSUER) return claims as unknown as WorkspaceGrant;
  } catch (cause) {
    throw refused((cause as Error).message);
  }
  throw refused("it is not policy's");
}

function refused(why: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "workspace_grant_refused",
    message: `The grant does not allow the use of this workspace: ${why}.`,
    advice: "Ask the session's owner to share it: `hlvm session share ID --with user:NAME --right drive`.",
  });
}
