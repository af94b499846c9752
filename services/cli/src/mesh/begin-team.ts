import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { MeshState } from "@hlvm/mesh/mesh-state";
import { postJson } from "../profiles/post-json.ts";

/** What the groups of the demonstration's identity provider give, and who is its first administrator. */
const TEAM = {
  email: "grace@acme.example",
  mappings: [
    { group: "engineers", role: "MEMBER_ROLE_DEVELOPER" },
    { group: "leads", role: "MEMBER_ROLE_APPROVER" },
    { group: "leads", role: "MEMBER_ROLE_ADMIN" },
    { group: "leads", role: "MEMBER_ROLE_SECURITY_AUDITOR" },
  ],
};

/** Gives a demonstration's groups their roles, the first time that it is up. */
export async function beginTeam({ edgeUrl, tokenFile }: MeshState): Promise<void> {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  await postJson(new URL("/auth/bootstrap", edgeUrl), TEAM, authorization).catch((thrown: unknown) => {
    if (!(thrown instanceof HlvmError) || thrown.reason !== "has_administrator") throw thrown;
  });
}

export function teamWelcome({ edgeUrl }: MeshState, command: string): string {
  return `HLVM is up for a company of two: ${edgeUrl}

Open it in a browser and choose who you are; in another browser, or a private window, be the other one:
  Ada    asks: a developer, by the group engineers
  Grace  answers what waits, reads the audit log and changes who may what, by the group leads

In a terminal:
  HLVM_DIR=/tmp/hlvm-ada ${command} login ${edgeUrl} --profile ada

Who is who is chosen without a password: this is to be looked at on this machine, and for nothing else. Ctrl-C ends it.
`;
}
