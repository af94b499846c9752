import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PageLogins } from "../domain/page-logins.ts";
import { readBody, type Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

/**
 * `POST /auth/token`: swaps the code of a link for the page's token. It is open to anybody, so it takes what only our own page
 * sends: JSON, and from the same origin where the browser says from where.
 */
export async function swapCode(request: Request, response: Response, logins: PageLogins): Promise<void> {
  const site = request.headers["sec-fetch-site"] ?? "same-origin";
  const isJson = /^application\/json\b/.test(request.headers["content-type"] ?? "");
  if (site !== "same-origin" || !isJson)
    throw new HlvmError({
      code: "permission_denied",
      reason: "origin_refused",
      message: "Only the page itself may swap its code.",
      advice: "Open the link that `hlvm web` prints.",
    });
  sendSecret(response, { token: logins.redeemCode(codeOf(await readBody(request))) });
}

export function sendSecret(response: Response, secret: Readonly<Record<string, string>>): void {
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(secret));
}

function codeOf(body: string): string {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    if (typeof code === "string") return code;
  } catch {
    // What is no JSON has no code in it.
  }
  throw new HlvmError({ code: "invalid_argument", reason: "code_missing", message: 'The body is not {"code": …}.' });
}
