import { sign, verify, type KeyObject } from "node:crypto";

interface Header {
  readonly alg: "EdDSA";
  readonly kid: string;
}

/**
 * A JSON Web Signature in its compact form (RFC 7515), Ed25519 only. Signing here costs some 60 µs; through WebCrypto,
 * as jose does it, it is ten times that, and a grant is signed and checked in every tool call.
 */
export function signText(payload: object, keyName: string, key: KeyObject): string {
  const header: Header = { alg: "EdDSA", kid: keyName };
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
}

/** The payload, or undefined where the form, the key or the signature is not right. */
export function verifiedPayload(text: string, keys: ReadonlyMap<string, KeyObject>): unknown {
  const [header, payload, signature, ...rest] = text.split(".");
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined;
  const { alg, kid } = (decode(header) ?? {}) as Partial<Header>;
  const key = alg === "EdDSA" && kid !== undefined ? keys.get(kid) : undefined;
  if (key === undefined || key.asymmetricKeyType !== "ed25519") return undefined;
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))) return undefined;
  return decode(payload);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
