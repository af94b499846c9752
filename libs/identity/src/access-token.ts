import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** `pat`: a person's, for programs; `svc`: a service account's; `cli`: of a command that is logged in; `ref`: what such a command gets the next one for. */
export type TokenKind = "pat" | "svc" | "cli" | "ref";

const SECRET_BYTES = 32;
/** The first part tells scanners, and our own redaction, what it is. */
const FORM = /^hlvm_(pat|svc|cli|ref)_([0-9a-f]{64})([0-9a-f]{8})$/;

/** A token with which a program calls in a person's name: 256 random bits and a checksum, in hexadecimal. */
export function newAccessToken(kind: TokenKind = "pat"): string {
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  return `hlvm_${kind}_${secret}${checksum(secret)}`;
}

/** Whether a text can be one: what was mistyped or made up is refused without a look at the database. */
export function isAccessToken(text: string, ...kinds: readonly TokenKind[]): boolean {
  const [, named, secret, check] = FORM.exec(text) ?? [];
  return kinds.some((kind) => kind === named) && secret !== undefined && check === checksum(secret);
}

/** What is kept of one, in hexadecimal: so many random bits need no slow hash. */
export function hashAccessToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(8, "0");
}
