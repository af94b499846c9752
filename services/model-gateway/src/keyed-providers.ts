import { HlvmError } from "@hlvm/errors/hlvm-error";
import { FileKeyWrapper } from "./adapters/keys/file-key-wrapper.ts";
import { VaultKeyWrapper } from "./adapters/keys/vault-key-wrapper.ts";
import type { Config } from "./config.ts";
import type { CallersKeys } from "./domain/keys/callers-models.ts";
import type { KeyWrapper } from "./domain/keys/sealed-secret.ts";
import type { CataloguedProvider } from "./domain/model-catalogue.ts";
import { anthropicProvider, compatibleProvider, openaiProvider, withKeys } from "./providers.ts";

const CREATE = { anthropic: anthropicProvider, openai: openaiProvider, "openai-compatible": compatibleProvider } as const;

/** What keys of organizations can be given for: a server without a name of its own only where it is known. */
export function providersWithKeys({ compatibleUrl }: Config): readonly (keyof typeof CREATE)[] {
  return compatibleUrl === "" ? ["anthropic", "openai"] : ["anthropic", "openai", "openai-compatible"];
}

/**
 * The same providers, those with keys of the caller by these alone. Where these cannot be read it says so in place of what to set, and
 * where they can be soon, a call fails with that.
 */
export function withCallersKeys(known: readonly CataloguedProvider[], config: Config, keys: CallersKeys): readonly CataloguedProvider[] {
  return known.map((each) => {
    const own = keys.get(each.name);
    if (own === undefined) return each;
    if (own instanceof HlvmError) {
      const failure = own.code === "unavailable" ? { failure: own } : {};
      return { ...each, provider: undefined, keyed: [], setUp: `${own.message} ${own.advice}`, ...failure };
    }
    return { ...each, ...withKeys(own, (key) => CREATE[each.name as keyof typeof CREATE](config, key)) };
  });
}

/** @throws HlvmError `invalid_configuration` where keys are to be kept and nothing is there to encrypt them with */
export function keyWrapper({ keyEncryptionKeys, vaultUrl, vaultKey, vaultTokenFile }: Config): KeyWrapper {
  if (vaultUrl !== "") {
    if (!/^[\w-]+\/[\w.-]+$/.test(vaultKey))
      throw invalid(`HLVM_VAULT_KEY must be ENGINE/KEY, for example transit/hlvm, not "${vaultKey}".`);
    if (vaultTokenFile === "") throw invalid("HLVM_VAULT_URL is set, and HLVM_VAULT_TOKEN_FILE is not.");
    return new VaultKeyWrapper({ url: vaultUrl, key: vaultKey, tokenFile: vaultTokenFile });
  }
  if (keyEncryptionKeys === "") throw invalid("HLVM_DATABASE_URL is set, and neither HLVM_KEY_ENCRYPTION_KEYS nor HLVM_VAULT_URL is.");
  return new FileKeyWrapper(keyEncryptionKeys);
}

function invalid(message: string): HlvmError {
  const advice = "What is kept is encrypted: see the README of the model gateway.";
  return new HlvmError({ code: "invalid_argument", reason: "invalid_configuration", message, advice });
}
