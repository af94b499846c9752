import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";

export interface Forgery {
  readonly issuer?: string;
  readonly audience?: string;
  readonly nonce?: string;
  /** Seconds by which its clock is ahead. */
  readonly ahead?: number;
  readonly signature?: "none" | "other_key" | "other_key_of_same_name" | "client_secret";
  readonly claims?: Readonly<Record<string, unknown>>;
}

export interface ForgingProvider {
  readonly issuer: string;
  /** What its next ID tokens have wrong. */
  forge: (forgery: Forgery) => void;
  readonly close: () => Promise<void>;
}

/**
 * An identity provider that sends the browser back at once and signs what a test wants: everything about it is right but for what
 * is forged.
 */
export async function startForgingProvider(clientId: string, clientSecret: string): Promise<ForgingProvider> {
  const [key, other] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwk = { ...(await exportJWK(key.publicKey)), kid: "key-1", alg: "RS256", use: "sig" };
  let forgery: Forgery = {};
  const nonces = new Map<string, string>();
  const idToken = (code: string): Promise<string> | string => {
    const now = Math.floor(Date.now() / 1_000) + (forgery.ahead ?? 0);
    const claims = {
      iss: forgery.issuer ?? issuer,
      aud: forgery.audience ?? clientId,
      sub: "mallory",
      name: "Mallory",
      email: "mallory@acme.test",
      groups: ["chiefs"],
      nonce: forgery.nonce ?? nonces.get(code),
      iat: now,
      exp: now + 3_600,
      ...forgery.claims,
    };
    const { signature } = forgery;
    if (signature === "none") return new UnsecuredJWT(claims).encode();
    const secret = new TextEncoder().encode(clientSecret.padEnd(32, "x"));
    if (signature === "client_secret") return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret);
    const kid = signature === "other_key" ? "key-2" : "key-1";
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(signature === undefined ? key.privateKey : other.privateKey);
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    const answer = (body: object): void => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (pathname === "/authorize") {
      const code = crypto.randomUUID();
      nonces.set(code, searchParams.get("nonce") ?? "");
      const back = new URL(searchParams.get("redirect_uri")!);
      back.search = new URLSearchParams({ code, state: searchParams.get("state")! }).toString();
      response.writeHead(302, { location: back.href });
      response.end();
    } else if (pathname === "/jwks") answer({ keys: [jwk] });
    else if (pathname === "/token") {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        const code = new URLSearchParams(body).get("code") ?? "";
        void Promise.resolve(idToken(code)).then((token) =>
          answer({ access_token: "opaque", token_type: "bearer", expires_in: 60, id_token: token }),
        );
      });
    } else
      answer({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    forge: (next) => (forgery = next),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
