import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { hashAccessToken, isAccessToken, newAccessToken } from "@hlvm/identity/access-token";
import type { LoginParts } from "./browser-login.ts";
import { newSecret } from "./browser-login.ts";
import { readBody, type Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

const POLL_SECONDS = 5;

type Answer = (request: Request, response: Response) => Promise<void>;

/** What `hlvm login` and `hlvm logout` ask. Open to anybody: what comes along proves itself. */
export function commandLogin({ logins, organization, publicUrl }: LoginParts): Readonly<Record<string, Answer>> {
  /** Once a code was typed or a redirect came back. */
  const code: Answer = async (request, response) => {
    const { code: given, code_verifier: verifier } = await textsOf(request);
    const next = newPair();
    const codeChallenge = createHash("sha256")
      .update(verifier ?? "")
      .digest("base64url");
    const { hashes } = next;
    const redeemed = { codeSha256: hashAccessToken(given ?? ""), codeChallenge, ...hashes };
    sendTokens(response, next, await logins.ask((client, options) => client.redeemCode(redeemed, options)));
  };
  const refresh: Answer = async (request, response) => {
    const { refresh_token: token = "" } = await textsOf(request);
    if (!isAccessToken(token, "ref")) throw noRefreshToken();
    const next = newPair();
    const { accessSha256: nextAccessSha256, refreshSha256: nextRefreshSha256 } = next.hashes;
    const asked = { refreshSha256: hashAccessToken(token), nextAccessSha256, nextRefreshSha256 };
    sendTokens(response, next, await logins.ask((client, options) => client.refreshCredential(asked, options)));
  };
  const revoke: Answer = async (request, response) => {
    const { refresh_token: token = "" } = await textsOf(request);
    if (!isAccessToken(token, "ref")) throw noRefreshToken();
    await logins.revoke(token);
    send(response, 200, {});
  };
  const device: Answer = async (request, response) => {
    const { label = "" } = await textsOf(request);
    const secret = newSecret();
    const asked = { organization, deviceSha256: hashAccessToken(secret), label, address: request.socket.remoteAddress ?? "" };
    const { userCode, expiresAt } = await logins.ask((client, options) => client.beginDevice(asked, options));
    send(response, 200, {
      device_code: secret,
      user_code: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
      // Without the code: who is led to a page that is filled in already does not look what they allow.
      verification_uri: new URL("/device", publicUrl).href,
      expires_at: isoOf(expiresAt),
      interval: POLL_SECONDS,
    });
  };
  const deviceAnswer: Answer = async (request, response) => {
    const { device_code: secret = "" } = await textsOf(request);
    const next = newPair();
    const asked = { deviceSha256: hashAccessToken(secret), ...next.hashes };
    const answer = await logins.ask((client, options) => client.redeemDevice(asked, options));
    if (answer.principal === "") send(response, 202, {});
    else sendTokens(response, next, answer);
  };
  return {
    "POST /auth/cli/token": code,
    "POST /auth/cli/refresh": refresh,
    "POST /auth/cli/revoke": revoke,
    "POST /auth/device": device,
    "POST /auth/device/token": deviceAnswer,
  };
}

function newPair() {
  const [access, refresh] = [newAccessToken("cli"), newAccessToken("ref")] as const;
  return { access, refresh, hashes: { accessSha256: hashAccessToken(access), refreshSha256: hashAccessToken(refresh) } };
}

type Pair = ReturnType<typeof newPair>;

function sendTokens(response: Response, { access, refresh }: Pair, { principal, expiresAt }: { principal: string; expiresAt?: Timestamp }) {
  send(response, 200, { access_token: access, refresh_token: refresh, expires_at: isoOf(expiresAt), principal });
}

function send(response: Response, status: number, body: Readonly<Record<string, unknown>>): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

function isoOf(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}

async function textsOf(request: Request): Promise<Readonly<Record<string, string | undefined>>> {
  const fields = Object.entries(await jsonOf(request));
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}

/** JSON, which no form of another site can send without asking first. */
export async function jsonOf(request: Request): Promise<JsonObject> {
  const isJson = /^application\/json\b/.test(request.headers["content-type"] ?? "");
  try {
    const read: unknown = isJson ? JSON.parse(await readBody(request)) : undefined;
    if (typeof read === "object" && read !== null && !Array.isArray(read)) return read as JsonObject;
  } catch (thrown) {
    if (thrown instanceof HlvmError) throw thrown;
  }
  throw new HlvmError({
    code: "invalid_argument",
    reason: "body_not_json",
    message: "The body is not a JSON object.",
    advice: "Send one.",
  });
}

function noRefreshToken(): HlvmError {
  return new HlvmError({
    code: "unauthenticated",
    reason: "login_over",
    message: "That is no refresh token.",
    advice: "Run `hlvm login URL`.",
  });
}
