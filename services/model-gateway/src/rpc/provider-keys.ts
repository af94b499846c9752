import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { addKey, removeKey, rotateKey, type KeyPorts } from "../domain/keys/change-keys.ts";
import type { ProviderKey } from "../domain/keys/provider-keys.ts";

/** @param keys undefined where the gateway has no database */
export function providerKeyMethods(keys: KeyPorts | undefined): ServiceImpl<typeof ProviderKeyService> {
  return {
    listProviderKeys: async (_request, context) => {
      const { organization } = administrator(context);
      const { store, providers } = demanded(keys);
      return { keys: (await store.list(organization)).map(encodeKey), providers: [...providers] };
    },
    addProviderKey: async (request, context) => {
      const by = administrator(context);
      return { key: encodeKey(await addKey(demanded(keys), by, request)) };
    },
    rotateProviderKey: async ({ keyId, secret }, context) => {
      const by = administrator(context);
      return { key: encodeKey(await rotateKey(demanded(keys), by, keyId, secret)) };
    },
    removeProviderKey: async ({ keyId }, context) => {
      const by = administrator(context);
      await removeKey(demanded(keys), by, keyId);
      return {};
    },
  };
}

function administrator(context: HandlerContext) {
  const { principal, delegation } = callContext(context);
  if (principal.roles.includes("admin") && delegation === undefined) return principal;
  throw new HlvmError({
    code: "permission_denied",
    reason: "role_missing",
    message: `${principal.id} may not see or change keys of providers: that takes the role admin, in person.`,
    advice: "Ask an administrator of your organization.",
  });
}

function demanded(keys: KeyPorts | undefined): KeyPorts {
  if (keys !== undefined) return keys;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "keys_not_kept",
    message: "This gateway keeps no keys: it has no database.",
    advice: "Set HLVM_DATABASE_URL and HLVM_KEY_ENCRYPTION_KEYS for the model gateway and start it again.",
  });
}

function encodeKey({ id, provider, team, name, ending, changedBy, createdAt, rotatedAt }: ProviderKey) {
  return {
    keyId: id,
    provider,
    team,
    name,
    ending,
    changedBy,
    createdAt: timestampFromDate(createdAt),
    rotatedAt: rotatedAt && timestampFromDate(rotatedAt),
  };
}
