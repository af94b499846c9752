import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider, type Configuration } from "oidc-provider";

export interface ProviderPerson {
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  /** Undefined: the provider says nothing of groups. */
  readonly groups?: readonly string[];
  /** Claims that are only sometimes there. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface ProviderOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the browser may be sent back to. */
  readonly redirectUris: readonly string[];
  /** Whom one can choose to be; read anew for each login. */
  readonly people: readonly ProviderPerson[];
  /** 0 takes any free one. */
  readonly port?: number;
}

export interface OidcProvider {
  readonly issuer: string;
  /** Signs with a new key from now on; the old one is published no more. */
  readonly rotateKeys: () => void;
  readonly close: () => Promise<void>;
}

/**
 * A real OpenID provider of a company, for tests and for a demonstration on one machine: whoever comes chooses who they are. Never
 * to be put where somebody else can reach it.
 */
export async function startOidcProvider(options: ProviderOptions): Promise<OidcProvider> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider = create(issuer, options);
  let callback = provider.callback();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
      if (!pathname.startsWith("/choose/")) await callback(request, response);
      else if (request.method === "POST") await choose(provider, searchParams.get("as") ?? "", request, response);
      else showPeople(pathname, options.people, response);
    } catch (thrown) {
      response.writeHead(500, { "content-type": "text/plain" });
      response.end(String(thrown));
    }
  };
  return {
    issuer,
    rotateKeys: () => {
      provider = create(issuer, options);
      callback = provider.callback();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Who is chosen is logged in for this one client, and asked for nothing more. */
function choose(provider: Provider, accountId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return provider.interactionFinished(request, response, { login: { accountId, remember: false } }, { mergeWithLastSubmission: false });
}

function create(issuer: string, { clientId, clientSecret, redirectUris, people }: ProviderOptions): Provider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: randomBytes(8).toString("hex") };
  const configuration: Configuration = {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups", "_claim_names"] },
    scopes: ["openid", "profile", "email", "groups"],
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/choose/${uid}` },
    findAccount: (_context, subject) => {
      const person = people.find((one) => one.subject === subject);
      if (person === undefined) return undefined;
      const { name, email, groups, more } = person;
      const claims = { sub: subject, name, email, email_verified: true, ...(groups === undefined ? {} : { groups: [...groups] }), ...more };
      return { accountId: subject, claims: () => claims };
    },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
    ttl: { IdToken: 300, AccessToken: 300, AuthorizationCode: 60, Grant: 300, Interaction: 600, Session: 600 },
  };
  return new Provider(issuer, configuration);
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function showPeople(path: string, people: readonly ProviderPerson[], response: ServerResponse): void {
  const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character]!);
  const forms = people.map(
    ({ subject, name, email, groups = [] }) => `<form method="post" action="${path}?as=${encodeURIComponent(subject)}">
<button>${escaped(name)}</button> ${escaped(email)}, in ${escaped(groups.join(", ") || "no group")}</form>`,
  );
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Who are you?</title><style>body{font:15px/1.6 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.4rem 1rem;margin:.4rem .6rem .4rem 0}</style>
<h1>Who are you?</h1><p>This is the identity provider of a demonstration: choose who you are.</p>${forms.join("\n")}</html>`);
}
