import { join } from "node:path";
import type { JWK } from "jose";
import type { HlvmFiles } from "./hlvm-files.ts";
import { keepPrivateFile, writePrivateFile, type Notice } from "./private-file.ts";

export interface KeyFiles {
  /** The private JWK of each signer. */
  readonly signingKey: (signer: Signer) => string;
  /** JWK set of those whose tokens are believed: edge and orchestrator. */
  readonly tokenPublicKeys: string;
  /** JWK set of those whose grants are believed: policy. */
  readonly grantPublicKeys: string;
}

const SIGNERS = ["edge", "orchestrator", "policy"] as const;
type Signer = (typeof SIGNERS)[number];

/** Makes the keys that are missing, and writes anew which public keys are believed. */
export async function keepSigningKeys(files: HlvmFiles, notice: Notice): Promise<KeyFiles> {
  const signingKey = (signer: Signer): string => join(files.keys, `${signer}.jwk`);
  const publicJwks = await Promise.all(
    SIGNERS.map(async (signer) => publicHalf(await keepPrivateFile(signingKey(signer), () => newKey(signer), notice))),
  );
  const [edge, orchestrator, policy] = publicJwks;
  const written = {
    signingKey,
    tokenPublicKeys: join(files.keys, "token-public.jwks"),
    grantPublicKeys: join(files.keys, "grant-public.jwks"),
  };
  writePrivateFile(written.tokenPublicKeys, JSON.stringify({ keys: [edge, orchestrator] }));
  writePrivateFile(written.grantPublicKeys, JSON.stringify({ keys: [policy] }));
  return written;
}

async function newKey(signer: Signer): Promise<string> {
  // Loaded only for the very first start: it costs as much as everything else here together.
  const { createSigningKey } = await import("@hlvm/identity/signing-key");
  return JSON.stringify((await createSigningKey(signer)).privateJwk);
}

function publicHalf(privateJwk: string): JWK {
  const { d: _, ...publicJwk } = JSON.parse(privateJwk) as JWK;
  return publicJwk;
}
