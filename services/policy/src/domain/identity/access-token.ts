import type { Role } from "@hlvm/identity/principal";
import type { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";

export type TokenScope = (typeof tokenScopeWords)[number];

/** A token with which programs call in a person's name, without what proves it. */
export interface AccessToken {
  readonly tokenId: string;
  readonly organization: string;
  readonly owner: string;
  /** What its owner was when it was made. */
  readonly ownerRoles: readonly Role[];
  readonly label: string;
  readonly scopes: readonly TokenScope[];
  /** `provider/name`, `*` stands for whatever is there. Empty: all. */
  readonly allowedModels: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To within a minute. */
  readonly lastUsedAt?: Date;
  readonly revokedAt?: Date;
}

/** The roles without which a scope is worth nothing, and which nothing but that scope gives. */
const ROLES_OF: Readonly<Record<TokenScope, readonly Role[]>> = {
  read: ["developer"],
  run: ["developer"],
  approve: ["approver"],
  audit: ["security-auditor"],
  admin: ["admin"],
  model: ["developer"],
};

/** What service accounts may be given: to answer and to administer is for people. */
const FOR_ACCOUNTS: ReadonlySet<TokenScope> = new Set(["read", "run", "audit", "model"]);

/** Whom a token of a service account acts as. */
export function accountId(name: string): string {
  return `account:${name}`;
}

/** The roles of a service account with these scopes; undefined where they are not for one. */
export function rolesOfAccount(scopes: readonly TokenScope[]): Role[] | undefined {
  return scopes.every((scope) => FOR_ACCOUNTS.has(scope)) ? [...new Set(scopes.flatMap((scope) => ROLES_OF[scope]))] : undefined;
}

/** Those of the owner's roles that these scopes leave. */
export function rolesWithin(scopes: readonly TokenScope[], roles: readonly Role[]): Role[] {
  const left = new Set(scopes.flatMap((scope) => ROLES_OF[scope]));
  return roles.filter((role) => left.has(role));
}
