import { createPrivateKey } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Code, ConnectError, createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { DescService } from "@bufbuild/protobuf";
import { SignJWT, type JWK } from "jose";
import type { AttackMesh } from "./attack-mesh.ts";

/** The local person's organization. */
export const ORGANIZATION = "local";

export interface ForgedClaims {
  readonly organization?: string;
  readonly principal: string;
  readonly roles: readonly string[];
  readonly lifetimeSeconds?: number;
}

/** Names of the private keys that lie in the mesh's folder: what a thief of one service has. */
export function stolenSigners(mesh: AttackMesh): string[] {
  return readdirSync(join(mesh.mesh.directory, "keys"))
    .filter((name) => name.endsWith(".jwk"))
    .map((name) => name.slice(0, -".jwk".length));
}

/** How a token may have to look: whoever has the key tries them all. */
const TYPES = [undefined, "hlvm-call+jwt"];
const AUDIENCES = (service: string): string[] => ["hlvm-mesh", service, `hlvm-${service}`];

/** Tokens made by hand with a stolen key, one for each form that a service may want. */
export async function forgeTokens(mesh: AttackMesh, signer: string, service: string, claims: ForgedClaims): Promise<string[]> {
  const { organization = ORGANIZATION, principal, roles, lifetimeSeconds = 60 } = claims;
  const jwk = JSON.parse(readFileSync(join(mesh.mesh.directory, "keys", `${signer}.jwk`), "utf8")) as JWK;
  const kid = jwk.kid!;
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  const now = Math.floor(Date.now() / 1000);
  const forms = AUDIENCES(service).flatMap((audience) => TYPES.map((typ) => ({ audience, typ })));
  return Promise.all(
    forms.map(({ audience, typ }) =>
      new SignJWT({ organization, roles: [...roles] })
        .setProtectedHeader({ alg: "EdDSA", kid, ...(typ === undefined ? {} : { typ }) })
        // A key's name may go on after that of its owner.
        .setIssuer(kid.split(".")[0]!)
        .setSubject(principal)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSeconds)
        .sign(key),
    ),
  );
}

export type Attempt<Answer> =
  | { readonly accepted: true; readonly answer: Answer }
  /** `refused`: the token itself was not taken. */
  | { readonly accepted: false; readonly refused: boolean; readonly error: string };

/** Makes a call with the first of the tokens that the service takes. */
export async function attempt<Service extends DescService, Answer>(
  mesh: AttackMesh,
  service: string,
  description: Service,
  tokens: readonly string[],
  call: (client: Client<Service>, options: CallOptions) => Promise<Answer>,
): Promise<Attempt<Answer>> {
  const client = createClient(description, createGrpcTransport({ baseUrl: `http://127.0.0.1:${mesh.portOf(service)}` }));
  let refusal: Attempt<Answer> = { accepted: false, refused: true, error: "no token was tried" };
  for (const token of tokens) {
    try {
      const answer = await call(client, { headers: { authorization: `Bearer ${token}` }, timeoutMs: 10_000 });
      return { accepted: true, answer };
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      refusal = { accepted: false, refused: error.code === Code.Unauthenticated, error: `${Code[error.code]}: ${error.rawMessage}` };
      if (!refusal.refused) return refusal;
    }
  }
  return refusal;
}

/** Whether a hand-made token of the edge, well-formed and short-lived, is taken: without that a refusal says nothing. */
export async function takesForgedTokens<Service extends DescService, Answer>(
  mesh: AttackMesh,
  service: string,
  description: Service,
  call: (client: Client<Service>, options: CallOptions) => Promise<Answer>,
): Promise<boolean> {
  const tokens = await forgeTokens(mesh, "edge", service, { principal: "user:control", roles: ["admin", "developer", "security-auditor"] });
  const control = await attempt(mesh, service, description, tokens, call);
  return control.accepted || !control.refused;
}
