import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import type { Response } from "./send-error.ts";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Tells a person whose browser was on its way through a login that it did not work, and what to do. */
export function sendNotice(response: Response, error: HlvmError): void {
  const { message, advice, reason } = error;
  const status = codeToHttpStatus(toConnectError(error).code);
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not logged in - HLVM</title><h1>Not logged in</h1><p>${escaped(message)}</p><p>${escaped(advice)}</p>
<p><a href="/auth/login">Log in again</a></p><p><small>${escaped(reason)}</small></p></html>`;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
  response.end(body);
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}
