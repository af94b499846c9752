import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SessionPlace } from "../domain/session/session-store.ts";

const PLACE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A place as a client keeps it, which need not know what it means. */
export function encodePageToken({ updatedAt, sessionId }: SessionPlace): string {
  return Buffer.from(`${updatedAt} ${sessionId}`).toString("base64url");
}

/** @returns undefined for the first page @throws HlvmError `page_token_invalid` */
export function decodePageToken(token: string): SessionPlace | undefined {
  if (token === "") return undefined;
  const [, updatedAt, sessionId] = PLACE.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (updatedAt !== undefined && sessionId !== undefined && isTime(updatedAt)) return { updatedAt, sessionId };
  throw new HlvmError({
    code: "invalid_argument",
    reason: "page_token_invalid",
    message: "The page token is none that a list of sessions ended with.",
    advice: "Give next_page_token as it came, or leave it out for the first page.",
  });
}

/** Months have no 31 days by the pattern alone, and PostgreSQL refuses a day that there is not. */
function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === text.slice(0, 19);
}
