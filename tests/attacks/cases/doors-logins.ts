import { TestBrowser } from "@hlvm/testing/test-browser";
import type { Forgery } from "../../identity/forging-provider.ts";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { GET_ME, LOGIN_COOKIE, OWN_PAGE, SESSION_COOKIE, type DoorsMesh } from "../doors-mesh.ts";

/** Where a login of this browser comes back to, not yet opened. */
async function begunLogin(doors: DoorsMesh, subject: string, browser: TestBrowser): Promise<string> {
  doors.say(subject);
  return (await browser.open(`${doors.url}/auth/login`, (url) => url.includes("/auth/callback"))).url;
}

const cookieOf = (doors: DoorsMesh, browser: TestBrowser): string | undefined => browser.cookie(doors.url, SESSION_COOKIE);

async function strangersState(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const mallorys = await begunLogin(doors, "mallory", new TestBrowser());
  const victim = new TestBrowser();
  await begunLogin(doors, "victim", victim);
  for (const browser of [victim, new TestBrowser()]) {
    const { status } = await browser.send(mallorys);
    if (status < 400 || cookieOf(doors, browser) !== undefined) problems.push(`a stranger's login is finished: ${status}`);
  }
  return findingOf(problems, "a login is finished by the browser that began it alone");
}

async function fixation(doors: DoorsMesh): Promise<Finding> {
  const planted = "A".repeat(43);
  const browser = new TestBrowser();
  browser.setCookie(doors.url, SESSION_COOKIE, planted);
  await browser.send(await begunLogin(doors, "fixed", browser));
  const first = cookieOf(doors, browser);
  const thief = new TestBrowser();
  thief.setCookie(doors.url, SESSION_COOKIE, planted);
  const stolen = await doors.call(thief, GET_ME);
  await browser.send(await begunLogin(doors, "fixed", browser));
  const second = cookieOf(doors, browser);
  return findingOf(
    [
      ...(first === planted || stolen.status < 400 ? ["a cookie that was planted before is good after the login"] : []),
      ...(first === second ? ["two logins have one credential"] : []),
    ],
    "each login makes a credential of its own",
  );
}

async function replays(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const browser = new TestBrowser();
  const back = await begunLogin(doors, "again", browser);
  const bound = browser.cookie(doors.url, LOGIN_COOKIE)!;
  const first = await browser.send(back);
  browser.setCookie(doors.url, LOGIN_COOKIE, bound);
  if (first.status !== 303) problems.push(`the login itself does not work: ${first.status}`);
  if ((await browser.send(back)).status < 400) problems.push("a callback is good twice");
  const other = new URL(await begunLogin(doors, "again", browser));
  const code = new URL(back).searchParams.get("code")!;
  other.searchParams.set("code", code);
  // The code is the provider's business; its nonce is that of the login before, and ours to check.
  if ((await browser.send(other.href)).status < 400) problems.push("a code of an earlier login is good for another");
  const mixed = new URL(await begunLogin(doors, "again", browser));
  mixed.searchParams.set("iss", "https://other.example");
  if ((await browser.send(mixed.href)).status < 400) problems.push("an answer that names another issuer is good");
  doors.provider.forge({});
  return findingOf(problems, "code, state and nonce are good once, together");
}

async function forgedIdTokens(doors: DoorsMesh): Promise<Finding> {
  const now = Math.floor(Date.now() / 1_000);
  const forgeries: Readonly<Record<string, Forgery>> = {
    "for another audience": { audience: "another-client" },
    "of another issuer": { issuer: "https://evil.example" },
    "with another nonce": { nonce: "n".repeat(43) },
    unsigned: { signature: "none" },
    "signed with an unknown key": { signature: "other_key" },
    "signed with another key under a known name": { signature: "other_key_of_same_name" },
    "signed with the client's secret": { signature: "client_secret" },
    "that is over": { claims: { iat: now - 7_200, exp: now - 3_600 } },
    "for several audiences, authorized for another": { claims: { aud: ["hlvm", "other"], azp: "other" } },
    "with a cut list of groups": { claims: { groups: undefined, _claim_names: { groups: "src1" } } },
    "with groups that are none": { claims: { groups: [{ name: "chiefs" }] } },
    "of nobody": { claims: { sub: undefined } },
  };
  const problems: string[] = [];
  const control = await doors.logIn("control");
  if (cookieOf(doors, control.browser) === undefined) problems.push("a good token is refused");
  for (const [name, forgery] of Object.entries(forgeries)) {
    const { browser, end } = await doors.logIn("mallory", { groups: ["chiefs"], forgery });
    if (end.status < 400 || cookieOf(doors, browser) !== undefined) problems.push(`an ID token ${name} lets in`);
  }
  const { browser: root } = await doors.logIn("root", { groups: ["chiefs"] });
  const audit = await doors.call(root, "hlvm.audit.v1.AuditService/Query", { kind: "AUDIT_KIND_LOGIN_FAILED", limit: 100 });
  const failed = (JSON.parse(audit.body) as { events?: unknown[] }).events?.length ?? 0;
  if (failed < Object.keys(forgeries).length) problems.push(`only ${failed} failures are on record`);
  return findingOf(problems, `${Object.keys(forgeries).length} forged ID tokens are refused and on record`);
}

const ELSEWHERE = [
  "https://evil.example",
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/%09/evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "javascript:alert(1)",
  "data:text/html,x",
  " //evil.example",
  "/auth/logout",
  "/..//evil.example",
  "http:evil.example",
  "/.//evil.example",
];

async function openRedirects(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  for (const to of ELSEWHERE) {
    const browser = new TestBrowser();
    doors.say("tourist");
    const back = await browser.open(`${doors.url}/auth/login?to=${encodeURIComponent(to)}`, (url) => url.includes("/auth/callback"));
    const { headers, status } = await browser.send(back.url);
    const resolved = new URL(headers.location ?? "about:blank", doors.url);
    if (status !== 303 || resolved.origin !== doors.url || resolved.pathname.startsWith("/auth/"))
      problems.push(`${to} leads to ${headers.location}`);
  }
  const { end } = await doors.logIn("tourist", { to: "/audit?tool=x" });
  if (!end.url.endsWith("/audit?tool=x")) problems.push(`a path of ours leads to ${end.url}`);
  return findingOf(problems, `${ELSEWHERE.length} ways elsewhere lead home`);
}

async function cookies(doors: DoorsMesh): Promise<Finding> {
  const browser = new TestBrowser();
  doors.say("cookie");
  const begun = await browser.send(`${doors.url}/auth/login`);
  const back = await browser.open(begun.headers.location!, (url) => url.includes("/auth/callback"));
  const lines = [begun, await browser.send(back.url)].flatMap(({ headers }) => headers["set-cookie"] ?? []);
  const problems = lines
    .filter((line) => !line.startsWith("__Host-") || !/; Secure/.test(line) || !/; HttpOnly/.test(line) || !/; Path=\/(;|$)/.test(line))
    .map((line) => `a cookie as ${line.replace(/=[^;]+/, "=…")}`);
  const session = lines.find((line) => line.startsWith(`${SESSION_COOKIE}=`)) ?? "";
  if (!/; SameSite=Strict/.test(session)) problems.push("the session's cookie goes along with requests of other sites");
  const twice = { ...OWN_PAGE, cookie: `${SESSION_COOKIE}=${"B".repeat(43)}; ${SESSION_COOKIE}=${cookieOf(doors, browser)}` };
  const answer = await doors.call(new TestBrowser(), GET_ME, {}, twice);
  if (answer.status < 400) problems.push("of two cookies of one name one is chosen");
  return findingOf(problems, "cookies are this host's, for TLS, out of reach of scripts");
}

const attack = (name: string, run: (doors: DoorsMesh) => Promise<Finding>): AttackCase => ({
  group: "doors",
  name,
  run: async (mesh) => run(await mesh.doors()),
});

export const doorsLogins: readonly AttackCase[] = [
  attack("login CSRF: the callback of a stranger", strangersState),
  attack("a session that was fixed before the login", fixation),
  attack("code, state and nonce replayed, and an issuer mixed up", replays),
  attack("forged ID tokens", forgedIdTokens),
  attack("redirects that lead away", openRedirects),
  attack("cookies that others can read or set", cookies),
];
