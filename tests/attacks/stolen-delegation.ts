import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT, type JWK } from "jose";
import type { AttackMesh } from "./attack-mesh.ts";
import { connectAsSuperuser } from "./mesh-database.ts";

const DATABASE = "hlvm_orchestrator";

/** What the person let the live run of a session do, as the orchestrator keeps it: what a thief of its database has. */
export async function delegationOf(mesh: AttackMesh, sessionId: string): Promise<string> {
  const client = await connectAsSuperuser(mesh, DATABASE);
  try {
    const { rows } = await client.query<{ delegation: string }>(
      "SELECT delegation FROM run WHERE session_id = $1 AND ended_at IS NULL AND delegation IS NOT NULL",
      [sessionId],
    );
    if (rows[0] === undefined) throw new Error(`No run of session ${sessionId} has a delegation.`);
    return rows[0].delegation;
  } finally {
    await client.end();
  }
}

/** What its part that the edge signed says. */
export function claimsOf(delegation: string): Readonly<Record<string, unknown>> {
  const [root = ""] = delegation.split("~");
  return JSON.parse(Buffer.from(root.split(".")[1]!, "base64url").toString()) as Record<string, unknown>;
}

/** Anything signed with the key of a service, as of now. */
export function signWith(mesh: AttackMesh, signer: string, typ: string, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const jwk = JSON.parse(readFileSync(join(mesh.mesh.directory, "keys", `${signer}.jwk`), "utf8")) as JWK;
  const kid = jwk.kid!;
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "EdDSA", kid, typ })
    .setIssuer(kid.split(".")[0]!)
    .setIssuedAt(now)
    .setExpirationTime(now + 120)
    .sign(createPrivateKey({ key: jwk, format: "jwk" }));
}

/** A token of a service that acts on a delegation, whole or forged, in the name of its person. */
export async function tokensForRun(mesh: AttackMesh, signer: string, audience: string, delegation: string): Promise<string[]> {
  const { sub, organization, roles } = claimsOf(delegation);
  const claims = { sub, organization, roles, aud: audience, delegation };
  return [await signWith(mesh, signer, "hlvm-call+jwt", claims)];
}
