import { sign, verify } from "node:crypto";
import type { PublicKey, PublicKeys } from "./public-keys.ts";
import { SIGNING_ALGORITHM, type SigningKey } from "./signing-key.ts";

/** What a signed text is: none can stand in for another, whoever signed it. */
export type JwsType = "hlvm-call+jwt" | "hlvm-delegation+jwt" | "hlvm-narrowing+jwt" | "hlvm-grant+jwt" | "hlvm-workspace-grant+jwt";

export interface VerifiedJws {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly kid: string;
  readonly signer: PublicKey;
}

/**
 * A JSON Web Signature in its compact form (RFC 7515), Ed25519 only, its type in the header (RFC 8725). Signing here costs
 * some 60 µs; through WebCrypto, as jose does it, it is ten times that, and every run and every tool call has its own.
 */
export function signJws(claims: object, type: JwsType, { kid, key }: SigningKey): string {
  const signed = `${encode({ alg: SIGNING_ALGORITHM, typ: type, kid })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
}

/** @throws Error that says whether its form, its type, its key or its signature is not right */
export function verifyJws(text: string, type: JwsType, keys: PublicKeys): VerifiedJws {
  const parts = text.split(".");
  if (parts.length !== 3) throw new Error("it is not a signed text");
  const [header, payload, signature] = parts as [string, string, string];
  const { alg, typ, kid, crit } = decode(header);
  if (alg !== SIGNING_ALGORITHM || typeof kid !== "string" || crit !== undefined) throw new Error("it is not signed as it has to be");
  if (typ !== type) throw new Error("it is signed for another purpose");
  const signer = keys.find(kid);
  if (signer === undefined) throw new Error("nobody knows its key");
  if (!verify(null, Buffer.from(`${header}.${payload}`), signer.key, bytesOf(signature))) throw new Error("its signature does not hold");
  return { claims: decode(payload), kid, signer };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(part: string): Record<string, unknown> {
  const value: unknown = JSON.parse(bytesOf(part).toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is not a signed text");
  return value as Record<string, unknown>;
}

/** One spelling only: Node skips what is no base64url, and a signature would have many forms. */
function bytesOf(part: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.toString("base64url") !== part) throw new Error("it is not a signed text");
  return bytes;
}
