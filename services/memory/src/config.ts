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
} as const;

export type Config = ReturnType<typeof readMemoryConfig>;

/** @throws HlvmError `invalid_configuration` */
export function readMemoryConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(settings, environment);
}
