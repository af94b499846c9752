import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { hashAccessToken } from "@hlvm/identity/access-token";
import { CredentialKind, LoginService, type LoopbackReceiver } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { TestPolicy } from "./start-test-policy.ts";

export interface TestLogin {
  readonly subject: string;
  readonly organization?: string;
  readonly issuer?: string;
  readonly email?: string;
  readonly name?: string;
  readonly groups?: readonly string[];
  readonly receiver?: Omit<LoopbackReceiver, "$typeName" | "$unknown">;
}

/** What the edge asks of policy, as the edge. */
export function testLogins(policy: TestPolicy) {
  const client = createClient(LoginService, createMeshTransport(policy.url));
  const finish = async ({ subject, email = `${subject}@acme.test`, groups, receiver, ...rest }: TestLogin) => {
    const secret = randomUUID();
    const said = { organization: "acme", issuer: "https://id.acme.test", name: subject, ...rest };
    const { principal } = await client.finishLogin(
      {
        ...said,
        subject,
        email,
        secretSha256: hashAccessToken(secret),
        ...(groups === undefined ? {} : { groups: { names: [...groups] } }),
        ...(receiver === undefined ? {} : { receiver }),
      },
      policy.asEdge(),
    );
    return { principal, secret };
  };
  const resolve = (secret: string, kind: CredentialKind = CredentialKind.BROWSER) =>
    client.resolveCredential({ sha256: hashAccessToken(secret), kind }, policy.asEdge());
  return { client, finish, resolve };
}
