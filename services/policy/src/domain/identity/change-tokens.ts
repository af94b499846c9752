import { randomUUID } from "node:crypto";
import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { hashAccessToken, newAccessToken } from "@hlvm/identity/access-token";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditEvent } from "../audit/audit-event.ts";
import { demandAuthority, hasAuthority } from "../authority/authority.ts";
import { accountId, rolesOfAccount, rolesWithin, type AccessToken } from "./access-token.ts";
import type { TokenStore } from "./token-store.ts";

const USUAL_DAYS = 90;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1_000;
const MOST_TOKENS = 100;

export interface NewToken extends Pick<AccessToken, "label" | "scopes" | "allowedModels"> {
  /** 0: 90. */
  readonly days: number;
  /** Empty: for oneself. */
  readonly serviceAccount: string;
}

/**
 * Makes a token in its owner's name, or an administrator one for a service account. What proves it is told this once.
 * @throws HlvmError `role_missing` for a scope that its owner could make no use of, `scope_for_people`, `too_many_tokens`
 */
export async function createToken(
  store: TokenStore,
  principal: Principal,
  traceId: string,
  { label, scopes, allowedModels, days, serviceAccount }: NewToken,
): Promise<{ readonly token: AccessToken; readonly secret: string }> {
  const { id: owner, roles: ownerRoles } =
    serviceAccount === "" ? demandUsable(principal, scopes) : account(principal, serviceAccount, scopes);
  const secret = newAccessToken(serviceAccount === "" ? "pat" : "svc");
  const tokenId = randomUUID();
  const expiresAt = new Date(Date.now() + (days || USUAL_DAYS) * DAY_MILLISECONDS);
  const { organization } = principal;
  const token = await store.create(
    { tokenId, organization, owner, ownerRoles, label, scopes, allowedModels, expiresAt },
    hashAccessToken(secret),
    MOST_TOKENS,
    eventOf("token_created", principal, traceId, {
      tokenId,
      owner,
      label,
      scopes: [...scopes],
      ...(allowedModels.length === 0 ? {} : { allowedModels: [...allowedModels] }),
      expiresAt: expiresAt.toISOString(),
    }),
  );
  if (token === undefined) throw tooMany();
  return { token, secret };
}

/** One's own, or of service accounts for administrators. @throws HlvmError `role_missing` */
export function listTokens(store: TokenStore, principal: Principal, ofAccounts: boolean): Promise<AccessToken[]> {
  if (!ofAccounts) return store.list(principal);
  demandAuthority(principal, "manage_members");
  return store.listOfAccounts(principal.organization);
}

/** @throws HlvmError `token_not_found` */
export async function revokeToken(store: TokenStore, principal: Principal, traceId: string, tokenId: string): Promise<AccessToken> {
  const ofAccounts = hasAuthority(principal, "manage_members");
  const revoked = await store.revoke(principal, tokenId, ofAccounts, eventOf("token_revoked", principal, traceId, { tokenId }));
  if (revoked !== undefined) return revoked;
  throw new HlvmError({
    code: "not_found",
    reason: "token_not_found",
    message: `You have no token ${tokenId}.`,
    advice: "`hlvm token list` shows yours.",
  });
}

function eventOf(
  kind: "token_created" | "token_revoked",
  { organization, id }: Principal,
  traceId: string,
  about: Parameters<typeof canonicalJson>[0],
): AuditEvent {
  return { kind, at: new Date().toISOString(), organization, principal: id, arguments: canonicalJson(about), traceId };
}

function demandUsable(principal: Principal, scopes: NewToken["scopes"]): Pick<Principal, "id" | "roles"> {
  const unusable = scopes.find((scope) => rolesWithin([scope], principal.roles).length === 0);
  if (unusable !== undefined) throw roleMissing(principal, unusable);
  return principal;
}

function account(principal: Principal, name: string, scopes: NewToken["scopes"]): Pick<Principal, "id" | "roles"> {
  demandAuthority(principal, "manage_members");
  const roles = rolesOfAccount(scopes);
  if (roles !== undefined) return { id: accountId(name), roles };
  throw new HlvmError({
    code: "invalid_argument",
    reason: "scope_for_people",
    message: "The scopes approve and admin are for people: no service account answers or administers.",
    advice: "Give a service account read, run, model or audit.",
  });
}

function roleMissing({ id }: Principal, scope: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "role_missing",
    message: `${id} has no role that the scope ${scope} could be used with; a token never lets its bearer do more than its owner may.`,
    advice: "Leave the scope out, or ask an administrator of your organization for the role.",
  });
}

function tooMany(): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_tokens",
    message: `You have ${MOST_TOKENS} tokens, which is as many as a person may have.`,
    advice: "Revoke those that are not used: `hlvm token list`, `hlvm token revoke ID`.",
  });
}
