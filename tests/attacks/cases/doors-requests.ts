import { connect } from "node:http2";
import { once } from "node:events";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { GET_ME, JSON_TYPE, OWN_PAGE, SESSION_COOKIE, type DoorsMesh } from "../doors-mesh.ts";

const PATHS = [
  ["GET", "/"],
  ["GET", "/people"],
  ["GET", "/auth/login"],
  ["GET", "/auth/cli"],
  ["GET", "/auth/callback?code=x&state=y"],
  ["POST", "/auth/logout"],
  ["POST", "/auth/cli/token"],
  ["POST", "/auth/cli/refresh"],
  ["POST", "/auth/device"],
  ["POST", "/auth/bootstrap"],
  ["GET", "/healthz"],
  ["POST", "/api/chat"],
  ["POST", `/${GET_ME}`],
  ["GET", "/assets/main.js"],
  ["GET", "/nowhere"],
] as const;

async function foreignHost(doors: DoorsMesh): Promise<Finding> {
  const { port } = new URL(doors.url);
  const hosts = [
    "evil.example",
    `evil.example:${port}`,
    `127.0.0.1.:${port}`,
    `127.0.0.1.evil.example:${port}`,
    "[::2]",
    "0x7f.1",
    "@127.0.0.1",
  ];
  const browser = new TestBrowser();
  const problems: string[] = [];
  for (const host of hosts)
    for (const [method, path] of PATHS) {
      const { status } = await browser.send(doors.url + path, {
        method,
        headers: { ...JSON_TYPE, host },
        body: method === "POST" ? "{}" : undefined,
      });
      if (status !== 403 && status !== 400) problems.push(`${method} ${path} for ${host}: ${status}`);
    }
  // A name of this machine that is not the public one reaches what is for who runs the server, and nothing else.
  const other = await browser.send(`${doors.url}/auth/login`, { headers: { host: `localhost:${port}` } });
  if (other.status !== 403) problems.push(`localhost reaches the login: ${other.status}`);
  const session = connect(doors.url);
  const request = session.request({ ":method": "GET", ":path": "/", ":authority": "evil.example" });
  const [headers] = (await once(request, "response")) as [{ ":status"?: number }];
  session.close();
  if (headers[":status"] !== 403) problems.push(`HTTP/2 for evil.example: ${headers[":status"]}`);
  return findingOf(problems, `${hosts.length} names on ${PATHS.length} paths, and over HTTP/2: all refused`);
}

async function otherSites(doors: DoorsMesh): Promise<Finding> {
  const { browser } = await doors.logIn("csrf", { groups: ["developers"] });
  const control = await doors.call(browser, GET_ME);
  const byOrigin = await doors.call(browser, GET_ME, {}, { ...JSON_TYPE, origin: doors.url });
  const problems = [control, byOrigin].filter(({ status }) => status !== 200).map(({ status }) => `our own page is answered ${status}`);
  const refused: readonly Readonly<Record<string, string>>[] = [
    { ...JSON_TYPE, "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { ...JSON_TYPE, "sec-fetch-site": "same-site", origin: "http://127.0.0.1:1" },
    { ...JSON_TYPE, "sec-fetch-site": "none" },
    { ...JSON_TYPE, "sec-fetch-site": "cross-site", origin: doors.url },
    { ...JSON_TYPE, origin: "http://127.0.0.1:1" },
    { ...JSON_TYPE, origin: "null" },
    JSON_TYPE,
    { "sec-fetch-site": "same-origin", "content-type": "text/plain" },
    { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
    { "sec-fetch-site": "same-origin", "content-type": "multipart/form-data; boundary=x" },
  ];
  for (const headers of refused) {
    const { status } = await doors.call(browser, GET_ME, {}, headers);
    if (status < 400) problems.push(`${JSON.stringify(headers)}: ${status}`);
  }
  const get = await browser.send(`${doors.url}/${GET_ME}?connect=v1&encoding=json&message=%7B%7D`, {
    headers: { "sec-fetch-site": "same-origin" },
  });
  if (get.status < 400) problems.push(`a GET does something: ${get.status}`);
  const logout = await browser.send(`${doors.url}/auth/logout`, {
    method: "POST",
    headers: { ...JSON_TYPE, "sec-fetch-site": "cross-site" },
    body: "{}",
  });
  if (logout.status < 400) problems.push("another site logs people out");
  const form = { "sec-fetch-site": "same-origin", "content-type": "text/plain" };
  const formLogout = await browser.send(`${doors.url}/auth/logout`, { method: "POST", headers: form, body: "{}" });
  if (formLogout.status < 400) problems.push("a form logs people out");
  const chat = await browser.send(`${doors.url}/api/chat`, {
    method: "POST",
    headers: OWN_PAGE,
    body: '{"messages":[{"role":"user","content":"x"}]}',
  });
  if (chat.status !== 401) problems.push(`the chat takes a cookie: ${chat.status}`);
  const cors = await browser.send(`${doors.url}/${GET_ME}`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
  });
  if (Object.keys(cors.headers).some((name) => name.startsWith("access-control-"))) problems.push("another site is let read answers");
  const upgraded = await browser
    .send(doors.url, {
      headers: { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "eA==" },
    })
    .then(({ status }) => status)
    .catch(() => 0);
  if (upgraded === 101) problems.push("a WebSocket is opened");
  return findingOf(problems, `${refused.length} ways of another site are refused, and ours works`);
}

async function authorizationAlone(doors: DoorsMesh): Promise<Finding> {
  const { browser } = await doors.logIn("both", { groups: ["developers"] });
  const problems: string[] = [];
  for (const authorization of [
    "Bearer x",
    "Basic eDp5",
    "",
    `Bearer hlvm_pat_${"0".repeat(72)}`,
    `Bearer ${browser.cookie(doors.url, SESSION_COOKIE)}`,
  ]) {
    const { status } = await doors.call(browser, GET_ME, {}, { ...OWN_PAGE, authorization });
    if (status !== 401) problems.push(`"${authorization.slice(0, 20)}" beside a cookie: ${status}`);
  }
  const operator = await doors.post(`/${GET_ME}`, {}, { ...JSON_TYPE, authorization: `Bearer ${doors.operatorToken}` });
  if (operator.status !== 401) problems.push(`the server's token file makes somebody of its bearer: ${operator.status}`);
  return findingOf(problems, "a header that is there counts alone, and the token file is nobody's login");
}

async function forgedRoles(doors: DoorsMesh): Promise<Finding> {
  const { browser } = await doors.logIn("nobody");
  const headers = {
    ...OWN_PAGE,
    "x-hlvm-roles": "admin",
    "x-roles": "admin",
    "x-forwarded-user": "root",
    "x-hlvm-principal": "user:root@acme.test",
  };
  const me = await doors.call(browser, GET_ME, { roles: ["MEMBER_ROLE_ADMIN"], principal: "user:root@acme.test" }, headers);
  const members = await doors.call(browser, "hlvm.identity.v1.MemberService/ListMembers", { roles: ["MEMBER_ROLE_ADMIN"] }, headers);
  const own = await doors.call(
    browser,
    "hlvm.identity.v1.MemberService/PutRole",
    { principal: "user:nobody@acme.test", role: "MEMBER_ROLE_ADMIN" },
    headers,
  );
  const said = (JSON.parse(me.body) as { roles?: string[] }).roles ?? [];
  return findingOf(
    [
      ...(said.length > 0 ? [`a header or body gives ${said.join()}`] : []),
      ...(members.status < 400 ? ["members are listed"] : []),
      ...(own.status < 400 ? ["somebody makes themselves an administrator"] : []),
    ],
    "headers and bodies give nobody a role",
  );
}

async function frames(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  for (const [method, path] of PATHS) {
    const { headers } = await new TestBrowser().send(doors.url + path, { method });
    if (headers["content-security-policy"]?.includes("frame-ancestors 'none'") !== true) problems.push(`${method} ${path} can be framed`);
  }
  return findingOf(problems, `none of ${PATHS.length} paths can be shown in a frame`);
}

const attack = (name: string, run: (doors: DoorsMesh) => Promise<Finding>): AttackCase => ({
  group: "doors",
  name,
  run: async (mesh) => run(await mesh.doors()),
});

export const doorsRequests: readonly AttackCase[] = [
  attack("a foreign Host on every path", foreignHost),
  attack("requests of other sites, and forms, with the cookie", otherSites),
  attack("an Authorization header beside a cookie", authorizationAlone),
  attack("roles by forged headers and bodies", forgedRoles),
  attack("clickjacking", frames),
];
