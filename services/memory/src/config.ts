import { HlvmError } from "@hlvm/errors/hlvm-error";
import { httpUrl } from "@hlvm/config/http-url";
import { text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";

/** Every setting of memory. */
const settings = {
  ...serviceSettings,
  grantPublicKeys: text({ variable: "HLVM_GRANT_PUBLIC_KEYS", description: "File with the JWK set of those who may give grants." }),
  databaseUrl: text({ variable: "HLVM_DATABASE_URL", description: "Memory's own PostgreSQL database." }),
  meilisearchUrl: {
    ...text({ variable: "HLVM_MEILISEARCH_URL", description: "Where Meilisearch listens; it may be down." }),
    parse: httpUrl,
  },
  meilisearchKey: text({ variable: "HLVM_MEILISEARCH_KEY", description: "A key that may search, fill and make the index." }),
  embeddingsUrl: {
    ...text({
      variable: "HLVM_EMBEDDINGS_URL",
      description: "A server that speaks OpenAI's /embeddings, up to and without that; empty: searches go by words alone.",
      fallback: "",
    }),
    parse: httpUrl,
  },
  embeddingsModel: text({
    variable: "HLVM_EMBEDDINGS_MODEL",
    description: "Its model, which has to be named where it is set.",
    fallback: "",
  }),
  embeddingsKey: text({ variable: "HLVM_EMBEDDINGS_KEY", description: "Its key; empty: it wants none.", fallback: "" }),
} as const;

export type Config = ReturnType<typeof readMemoryConfig>;

/** @throws HlvmError `invalid_configuration` */
export function readMemoryConfig(environment: NodeJS.ProcessEnv) {
  const { embeddingsUrl, embeddingsModel, embeddingsKey, ...config } = readConfig(settings, environment);
  if (embeddingsUrl !== "" && embeddingsModel === "") throw modelMissing();
  return { ...config, embeddings: embeddingsUrl === "" ? undefined : { url: embeddingsUrl, model: embeddingsModel, key: embeddingsKey } };
}

function modelMissing(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "invalid_configuration",
    message: "HLVM_EMBEDDINGS_URL is set, and HLVM_EMBEDDINGS_MODEL names no model.",
    advice: "Name the model that it serves, or leave both out.",
  });
}
