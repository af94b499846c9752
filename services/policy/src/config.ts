import { choice, integer, text } from "@hlvm/config/setting";
import { readConfig as readSettings } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";

export const settings = {
  ...serviceSettings,
  databaseUrl: text({ variable: "HLVM_DATABASE_URL", description: "URL of the service's own PostgreSQL database" }),
  grantSigningKey: text({ variable: "HLVM_GRANT_SIGNING_KEY", description: "path of the private JWK that grants are signed with" }),
  fourEyes: choice<"no" | "L2" | "L1">({
    variable: "HLVM_FOUR_EYES",
    description: "from which level on somebody else has to allow what a person asked for: no, L2 or L1",
    fallback: "no",
    choices: ["no", "L2", "L1"],
  }),
  approvalSeconds: integer({
    variable: "HLVM_APPROVAL_SECONDS",
    description: "how long an approval waits for an answer, in seconds",
    fallback: 300,
    minimum: 1,
    maximum: 604_800,
  }),
} as const;

/** @throws HlvmError `invalid_configuration` */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ReturnType<typeof readSettings<typeof settings>> {
  return readSettings(settings, environment);
}
