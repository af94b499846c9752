import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { postJson } from "./post-json.ts";

const DEADLINE_MILLISECONDS = 10 * 60 * 1_000;
const DONE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>HLVM</title><p>You are logged in. You can close this tab and go back to the terminal.</html>`;

/**
 * Logs in through a browser on this machine, which comes back to a port of ours with a code (RFC 8252); only who has the
 * verifier, which never left this process, can use it.
 * @param show gets the address that the browser has to open
 * @returns what the edge gave for the code @throws HlvmError `login_timed_out`
 */
export async function loopbackLogin(edge: URL, show: (url: URL) => Promise<void>, signal: AbortSignal) {
  const [state, verifier] = [randomBytes(32).toString("base64url"), randomBytes(32).toString("base64url")];
  const { promise: code, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? "/", "http://127.0.0.1").searchParams;
    const isOurs = query.get("state") === state && query.has("code");
    response.writeHead(isOurs ? 200 : 404, {
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      connection: "close",
    });
    response.end(isOurs ? DONE : "");
    if (isOurs) resolve(query.get("code")!);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  try {
    const { port } = server.address() as AddressInfo;
    const url = new URL("/auth/cli", edge);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    url.search = new URLSearchParams({ port: String(port), state, challenge, label: hostname().slice(0, 100) || "a machine" }).toString();
    await show(url);
    const given = await Promise.race([code, ended(signal)]);
    return (await postJson(new URL("/auth/cli/token", edge), { code: given, code_verifier: verifier })).body;
  } finally {
    server.close();
  }
}

/** Rejects when the person gives up, or nothing came. */
function ended(signal: AbortSignal): Promise<never> {
  const late = AbortSignal.timeout(DEADLINE_MILLISECONDS);
  const either = AbortSignal.any([signal, late]);
  return new Promise((_, reject) => {
    either.addEventListener("abort", () =>
      reject(
        new HlvmError({
          code: late.aborted ? "deadline_exceeded" : "cancelled",
          reason: "login_timed_out",
          message: late.aborted ? "Nobody logged in within ten minutes." : "The login was given up.",
          advice: "Run `hlvm login URL` again; where this machine has no browser, with --device.",
        }),
      ),
    );
  });
}
