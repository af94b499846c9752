import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Tells scanners, and our own redaction, what it is. */
const PREFIX = "hlvm_pat_";
const SECRET_BYTES = 32;
const FORM = /^hlvm_pat_([0-9a-f]{64})([0-9a-f]{8})$/;

/** A token with which a program calls in a person's name: 256 random bits and a checksum, in hexadecimal. */
export function newAccessToken(): string {
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  return `${PREFIX}${secret}${checksum(secret)}`;
}

/** Whether a text can be one: what was mistyped or made up is refused without a look at the database. */
export function isAccessToken(text: string): boolean {
  const [, secret, check] = FORM.exec(text) ?? [];
  return secret !== undefined && check === checksum(secret);
}

/** What is kept of one, in hexadecimal: so many random bits need no slow hash. */
export function hashAccessToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(8, "0");
}
