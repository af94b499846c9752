import { integer, text } from "@hlvm/config/knob";
import { readConfig as readKnobs } from "@hlvm/config/read-config";

export const knobs = {
  host: text({ variable: "HLVM_HOST", description: "address to listen on", fallback: "127.0.0.1" }),
  port: integer({
    variable: "HLVM_PORT",
    description: "port to listen on; 0 takes any free one",
    fallback: 0,
    minimum: 0,
    maximum: 65_535,
  }),
  databaseUrl: text({ variable: "HLVM_DATABASE_URL", description: "URL of the service's own PostgreSQL database" }),
  tokenPublicKeys: text({ variable: "HLVM_TOKEN_PUBLIC_KEYS", description: "path of the JWK set that internal tokens are checked with" }),
  grantSigningKey: text({ variable: "HLVM_GRANT_SIGNING_KEY", description: "path of the private JWK that grants are signed with" }),
  approvalSeconds: integer({
    variable: "HLVM_APPROVAL_SECONDS",
    description: "how long an approval waits for an answer, in seconds",
    fallback: 300,
    minimum: 1,
    maximum: 604_800,
  }),
} as const;

/** @throws HlvmError `invalid_configuration` */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ReturnType<typeof readKnobs<typeof knobs>> {
  return readKnobs(knobs, environment);
}
