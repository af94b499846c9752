import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenResolverService, TokenSchema, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { callContext, demandService } from "@hlvm/rpc/call-context";
import { demandPerson } from "../domain/demand-person.ts";
import { rolesWithin, type AccessToken } from "../domain/identity/access-token.ts";
import { createToken, listTokens, revokeToken } from "../domain/identity/change-tokens.ts";
import type { TokenStore } from "../domain/identity/token-store.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { scopes, wordOf } from "./words.ts";

/** Tokens are their owner's, and those of service accounts the administrators': nobody else sees them, and no run makes any. */
export function tokenMethods(store: TokenStore): ServiceImpl<typeof TokenService> {
  return {
    createToken: async ({ label, scopes: wanted, days, serviceAccount, allowedModels }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      refuseControlCharacters({ label });
      const words = wanted.flatMap((scope) => wordOf(scopes, scope) ?? []);
      const { token, secret } = await createToken(store, principal, traceId, { label, scopes: words, allowedModels, days, serviceAccount });
      return { token: encodeToken(token), secret };
    },
    listTokens: async ({ serviceAccounts }, context) => {
      const { principal, delegation } = callContext(context);
      demandPerson(delegation);
      return { tokens: (await listTokens(store, principal, serviceAccounts)).map(encodeToken) };
    },
    revokeToken: async ({ tokenId }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      return { token: encodeToken(await revokeToken(store, principal, traceId, tokenId)) };
    },
  };
}

export function tokenResolverMethods(store: TokenStore): ServiceImpl<typeof TokenResolverService> {
  return {
    resolveToken: async ({ sha256 }, context) => {
      demandService(context, "edge");
      const token = await store.use(sha256);
      if (token === undefined)
        throw new HlvmError({ code: "not_found", reason: "token_not_found", message: "There is no such token, or it is over." });
      const { tokenId, organization, owner, ownerRoles, scopes: words, allowedModels, expiresAt } = token;
      return {
        tokenId,
        organization,
        principal: owner,
        roles: rolesWithin(words, ownerRoles),
        scopes: words.map((word) => scopes[word]),
        allowedModels: [...allowedModels],
        expiresAt: timestampFromDate(expiresAt),
      };
    },
  };
}

function encodeToken(token: AccessToken): MessageInitShape<typeof TokenSchema> {
  const { tokenId, label, owner, createdAt, expiresAt, lastUsedAt, revokedAt } = token;
  return {
    tokenId,
    label,
    owner,
    scopes: token.scopes.map((word) => scopes[word]),
    allowedModels: [...token.allowedModels],
    createdAt: timestampFromDate(createdAt),
    expiresAt: timestampFromDate(expiresAt),
    lastUsedAt: lastUsedAt && timestampFromDate(lastUsedAt),
    revokedAt: revokedAt && timestampFromDate(revokedAt),
  };
}
