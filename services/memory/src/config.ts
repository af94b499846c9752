import { integer, text } from "@hlvm/config/knob";
import { readConfig } from "@hlvm/config/read-config";

/** Every setting of memory. */
const knobs = {
  host: text({ variable: "HLVM_HOST", description: "Address to listen on.", fallback: "127.0.0.1" }),
  port: integer({
    variable: "HLVM_PORT",
    description: "Port to listen on; 0 takes any free one.",
    fallback: 0,
    minimum: 0,
    maximum: 65_535,
  }),
  tokenPublicKeys: text({ variable: "HLVM_TOKEN_PUBLIC_KEYS", description: "File with the JWK set of those who may mint tokens." }),
  grantPublicKeys: text({ variable: "HLVM_GRANT_PUBLIC_KEYS", description: "File with the JWK set of those who may give grants." }),
  databaseUrl: text({ variable: "HLVM_DATABASE_URL", description: "Memory's own PostgreSQL database." }),
  meilisearchUrl: text({ variable: "HLVM_MEILISEARCH_URL", description: "Where Meilisearch listens; it may be down." }),
  meilisearchKey: text({ variable: "HLVM_MEILISEARCH_KEY", description: "A key that may search, fill and make the index." }),
} as const;

export type Config = ReturnType<typeof readMemoryConfig>;

/** @throws HlvmError `invalid_configuration` */
export function readMemoryConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(knobs, environment);
}
