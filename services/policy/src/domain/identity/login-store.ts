import type { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import type { Role } from "@hlvm/identity/principal";
import type { AuditEvent, AuditKind } from "../audit/audit-event.ts";

/** A command on the person's own machine that waits for the end of a login in a browser. */
export interface LoopbackReceiver {
  readonly port: number;
  readonly state: string;
  readonly codeChallenge: string;
  readonly label: string;
}

/** What has to be remembered while the person is at the identity provider. Hashes are SHA-256 in hexadecimal. */
export interface LoginAttempt {
  readonly organization: string;
  readonly stateSha256: string;
  readonly browserSha256: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  readonly receiver?: LoopbackReceiver;
}

/** Whom the identity provider says it is. */
export interface Identified {
  readonly organization: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Empty where there is none that the provider vouches for. */
  readonly email: string;
  /** Undefined where it said nothing of groups: then they stay. */
  readonly groups?: readonly string[];
}

/** What lets somebody in from now on: a cookie, or a code that a command swaps. */
export interface NewCredential {
  readonly sha256: string;
  readonly kind: "browser" | "code";
  readonly label: string;
  readonly codeChallenge?: string;
}

/** Hashes of an access token and of the refresh token that comes with it. */
export interface TokenPair {
  readonly accessSha256: string;
  readonly refreshSha256: string;
}

export interface LetIn {
  readonly credentialId: string;
  readonly organization: string;
  readonly principal: string;
  readonly roles: readonly Role[];
  readonly authenticatedAt: Date;
}

export interface LetInCommand {
  readonly principal: string;
  readonly expiresAt: Date;
}

/** Writes the event that is committed with what happened. */
export type WriteEvent = (
  kind: AuditKind,
  who: { readonly organization: string; readonly principal: string },
  about: Parameters<typeof canonicalJson>[0],
) => AuditEvent;

/** Logins that go on, and the credentials that came of them. */
export interface LoginStore {
  /** @returns false where as many go on in the organization as may */
  begin(attempt: LoginAttempt, most: number): Promise<boolean>;
  /** Once; undefined where there is none, it is too old, or another browser began it: then it stays for the one that did. */
  take(stateSha256: string, browserSha256: string): Promise<LoginAttempt | undefined>;
  /** @returns who it is; undefined where they are suspended, which is on record then */
  finish(identified: Identified, credential: NewCredential, write: WriteEvent): Promise<string | undefined>;
  record(event: AuditEvent): Promise<void>;
  resolve(sha256: string, kind: "browser" | "cli"): Promise<LetIn | undefined>;
  /** Swaps a code, once. */
  redeem(codeSha256: string, codeChallenge: string, next: TokenPair): Promise<LetInCommand | undefined>;
  /** Swaps a refresh token; the second time everything that came of its login is revoked. */
  refresh(refreshSha256: string, next: TokenPair, write: WriteEvent): Promise<LetInCommand | "reused" | undefined>;
  /** With everything that came of the same login. */
  revoke(sha256: string, write: WriteEvent): Promise<void>;
  /** Forgets what has been over for long. */
  forget(): Promise<void>;
}
