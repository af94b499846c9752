import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import { TestBrowser, type BrowserAnswer } from "@hlvm/testing/test-browser";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { startForgingProvider, type Forgery, type ForgingProvider } from "../identity/forging-provider.ts";

export const JSON_TYPE = { "content-type": "application/json" };
/** What a browser says of a fetch of our own page. */
export const OWN_PAGE = { ...JSON_TYPE, "sec-fetch-site": "same-origin" };
export const SESSION_COOKIE = "__Host-hlvm";
export const LOGIN_COOKIE = "__Host-hlvm-login";
export const GET_ME = "hlvm.identity.v1.MemberService/GetMe";
const CLIENT = { id: "hlvm", secret: "of the two of us" };

export interface LoginTry {
  readonly groups?: readonly string[];
  /** Where the browser wants to go afterwards. */
  readonly to?: string;
  /** What is wrong with the ID token. */
  readonly forgery?: Forgery;
}

/** Somebody's browser, after they tried to log in. */
export interface Visitor {
  readonly browser: TestBrowser;
  /** Where the login ended. */
  readonly end: BrowserAnswer;
}

/** A whole mesh in team mode, whose identity provider says whatever an attack wants. */
export class DoorsMesh {
  readonly mesh: TestMesh;
  readonly provider: ForgingProvider;
  readonly url: string;

  private constructor(mesh: TestMesh, provider: ForgingProvider, url: string) {
    this.mesh = mesh;
    this.provider = provider;
    this.url = url;
  }

  static async start(): Promise<DoorsMesh> {
    const provider = await startForgingProvider(CLIENT.id, CLIENT.secret);
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const mesh = await startTestMesh({
      HLVM_PORT: String(port),
      HLVM_PUBLIC_URL: url,
      HLVM_ORGANIZATION: "acme",
      HLVM_OIDC_ISSUER: provider.issuer,
      HLVM_OIDC_CLIENT_ID: CLIENT.id,
      HLVM_OIDC_CLIENT_SECRET: CLIENT.secret,
      HLVM_FOUR_EYES: "L2",
    });
    const doors = new DoorsMesh(mesh, provider, url);
    const roles = {
      developers: ["DEVELOPER"],
      approvers: ["APPROVER"],
      auditors: ["SECURITY_AUDITOR"],
      chiefs: ["ADMIN", "SECURITY_AUDITOR"],
    };
    const mappings = Object.entries(roles).flatMap(([group, given]) => given.map((role) => ({ group, role: `MEMBER_ROLE_${role}` })));
    const body = JSON.stringify({ email: "root@acme.test", mappings });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${doors.operatorToken}` };
    const named = await new TestBrowser().send(`${url}/auth/bootstrap`, { method: "POST", headers, body });
    if (named.status !== 200) throw new Error(`The first administrator was not named: ${named.status} ${named.body}`);
    await doors.logIn("root", { groups: ["chiefs"] });
    return doors;
  }

  get operatorToken(): string {
    return readFileSync(this.mesh.state.tokenFile, "utf8").trim();
  }

  /** Logs somebody in, or tries to. */
  async logIn(subject: string, { groups, to = "/", forgery }: LoginTry = {}): Promise<Visitor> {
    this.say(subject, groups, forgery);
    const browser = new TestBrowser();
    const end = await browser.open(`${this.url}/auth/login?to=${encodeURIComponent(to)}`);
    this.provider.forge({});
    return { browser, end };
  }

  /** Whom the provider says it is from now on. */
  say(subject: string, groups: readonly string[] = [], forgery: Forgery = {}): void {
    const claims = { sub: subject, name: subject, email: `${subject}@acme.test`, groups };
    this.provider.forge({ ...forgery, claims: { ...claims, ...forgery.claims } });
  }

  /** A call as our own page makes it, unless the headers say otherwise. */
  call(
    browser: TestBrowser,
    method: string,
    body: object = {},
    headers: Readonly<Record<string, string>> = OWN_PAGE,
  ): Promise<BrowserAnswer> {
    return browser.send(`${this.url}/${method}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  post(path: string, body: object, headers: Readonly<Record<string, string>> = JSON_TYPE): Promise<BrowserAnswer> {
    return new TestBrowser().send(`${this.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** All that the mesh's processes wrote so far. */
  logs(): string {
    const folder = join(this.mesh.directory, "logs");
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
  }

  async stop(): Promise<void> {
    await this.mesh.stop();
    await this.provider.close();
  }
}
