import { once } from "node:events";
import type { ConnectRouter } from "@connectrpc/connect";
import { AccessTokenAuthenticator } from "@hlvm/service-edge/src/adapters/access-token-authenticator.ts";
import { LocalAuthenticator } from "@hlvm/service-edge/src/adapters/local-authenticator.ts";
import { OpenidProvider } from "@hlvm/service-edge/src/adapters/openid-provider.ts";
import { PolicyLogins } from "@hlvm/service-edge/src/adapters/policy-logins.ts";
import { NobodyElse, TeamAdmission } from "@hlvm/service-edge/src/http/team-admission.ts";
import { connectBackends } from "@hlvm/service-edge/src/rpc/backends.ts";
import { startEdge } from "@hlvm/service-edge/src/start-edge.ts";
import { startTestPolicy, type TestPolicy } from "@hlvm/service-policy/src/testing/start-test-policy.ts";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { startOidcProvider, type OidcProvider, type ProviderPerson } from "@hlvm/testing/oidc-provider";
import { TestBrowser, type BrowserAnswer } from "@hlvm/testing/test-browser";
import { testLog } from "@hlvm/testing/test-log";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";

export const ORGANIZATION = "acme";
export const OPERATOR_TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
export const CLIENT = { clientId: "hlvm", clientSecret: "a secret between the two" };
const JSON_TYPE = { "content-type": "application/json" };

export interface TeamMesh {
  readonly url: string;
  readonly policy: TestPolicy;
  readonly provider: OidcProvider;
  /** Whom the provider knows; change it under way. */
  readonly people: ProviderPerson[];
  /** A browser in which this person is logged in. */
  readonly loggedIn: (subject: string) => Promise<TestBrowser>;
  /** A call of our own page, as a browser sends it. */
  readonly call: (browser: TestBrowser, method: string, body?: object, headers?: Record<string, string>) => Promise<BrowserAnswer>;
  /** Names the first administrator. */
  readonly bootstrap: (email: string) => Promise<BrowserAnswer>;
  readonly close: () => Promise<void>;
}

export interface TeamMeshOptions {
  /** Instead of the provider's own address. */
  readonly issuer?: string;
  /** What stands behind the edge besides policy. */
  readonly routes?: (router: ConnectRouter) => void;
}

/** The edge in team mode before the real policy on a real database, with a real identity provider; the others are stubs. */
export async function startTeamMesh({ issuer, routes = sessionRoutes }: TeamMeshOptions = {}): Promise<TeamMesh> {
  const policy = await startTestPolicy();
  const { minter, delegations, verifier } = policy.identity;
  const others = ["orchestrator", "model-gateway", "sandbox", "memory"] as const;
  const servers = await Promise.all(
    others.map((name) => startRpcServer({ host: "127.0.0.1", port: 0, log: testLog, services: [], authenticate: verifier(name), routes })),
  );
  const urls = Object.fromEntries(others.map((name, index) => [name, `http://127.0.0.1:${servers[index]!.port}`]));
  const [port] = await freePorts(1);
  const publicUrl = new URL(`http://127.0.0.1:${port}`);
  const people: ProviderPerson[] = [];
  const provider = await startOidcProvider({ ...CLIENT, redirectUris: [new URL("/auth/callback", publicUrl).href], people });
  const backends = connectBackends({ ...(urls as Record<(typeof others)[number], string>), policy: policy.url });
  const { transport } = backends.policy;
  const logins = new PolicyLogins(transport, minter, new AccessTokenAuthenticator(transport, minter, new NobodyElse()));
  const operator = new LocalAuthenticator(OPERATOR_TOKEN, "operator");
  const openid = new OpenidProvider({ ...CLIENT, issuer: issuer ?? provider.issuer, publicUrl });
  const parts = { logins, provider: openid, organization: ORGANIZATION, publicUrl, log: testLog, operator, authenticator: logins };
  const edge = await startEdge({
    host: "127.0.0.1",
    port: port!,
    connectionAgeSeconds: 180,
    admission: new TeamAdmission(parts),
    webDirectory: "",
    minter,
    delegations,
    backends,
    log: testLog,
  });
  const url = publicUrl.origin;
  const call: TeamMesh["call"] = (browser, method, body = {}, headers = {}) =>
    browser.send(`${url}/${method}`, {
      method: "POST",
      headers: { ...JSON_TYPE, "sec-fetch-site": "same-origin", ...headers },
      body: JSON.stringify(body),
    });
  return {
    url,
    policy,
    provider,
    people,
    call,
    loggedIn: async (subject) => {
      const browser = new TestBrowser();
      await browser.logIn(`${url}/auth/login`, subject);
      return browser;
    },
    bootstrap: (email) =>
      new TestBrowser().send(`${url}/auth/bootstrap`, {
        method: "POST",
        headers: { ...JSON_TYPE, authorization: `Bearer ${OPERATOR_TOKEN}` },
        body: JSON.stringify({ email }),
      }),
    close: async () => {
      await edge.close();
      await Promise.all(servers.map((server) => server.close()));
      await provider.close();
      await policy.close();
    },
  };
}

/** Sessions of which there are none, and one that is watched until its watcher goes. */
function sessionRoutes(router: ConnectRouter): void {
  router.service(SessionService, {
    listSessions: () => ({}),
    deleteSession: () => ({}),
    async *watch(_request, { signal }) {
      yield {};
      if (!signal.aborted) await once(signal, "abort");
    },
  });
}
