import { createHash, randomUUID } from "node:crypto";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { GET_ME, JSON_TYPE, OWN_PAGE, SESSION_COOKIE, type DoorsMesh } from "../doors-mesh.ts";

const TOKENS = "hlvm.identity.v1.TokenService";
const MEMBERS = "hlvm.identity.v1.MemberService";
const DEVICES = "hlvm.identity.v1.DeviceService";
const SUSPENDED_WITHIN_MILLISECONDS = 12_000;

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

const bearing = (token: string) => ({ ...JSON_TYPE, authorization: `Bearer ${token}` });

/** What a command gets that somebody logs in with their browser. */
async function commandLogin(doors: DoorsMesh, subject: string, groups: readonly string[] = []) {
  const verifier = "v".repeat(43);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  doors.say(subject, groups);
  const query = new URLSearchParams({ port: "4321", state: "s".repeat(20), challenge, label: "laptop" });
  const end = await new TestBrowser().open(`${doors.url}/auth/cli?${query.toString()}`, (url) => url.startsWith("http://127.0.0.1:4321/"));
  const code = new URL(end.url).searchParams.get("code")!;
  const redeem = (given: string) => doors.post("/auth/cli/token", { code, code_verifier: given });
  return { code, verifier, redeem };
}

async function stolenRefresh(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const stolen = await commandLogin(doors, "carol");
  if ((await stolen.redeem("w".repeat(43))).status < 400) problems.push("a code is good without its verifier");
  if ((await stolen.redeem(stolen.verifier)).status < 400) problems.push("a code that a thief tried is still good");
  const { redeem, verifier } = await commandLogin(doors, "carol");
  const first = JSON.parse((await redeem(verifier)).body) as Pair;
  if ((await redeem(verifier)).status < 400) problems.push("a code is good twice");
  const control = await doors.post(`/${GET_ME}`, {}, bearing(first.access_token));
  if (control.status !== 200) problems.push(`the login itself does not work: ${control.status}`);
  const thiefs = JSON.parse((await doors.post("/auth/cli/refresh", { refresh_token: first.refresh_token })).body) as Pair;
  const again = await doors.post("/auth/cli/refresh", { refresh_token: first.refresh_token });
  if (again.status < 400) problems.push("a refresh token is good twice");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  for (const { access_token: token } of [first, thiefs]) {
    const { status } = await doors.post(`/${GET_ME}`, {}, bearing(token));
    if (status !== 401) problems.push(`after a refresh token came twice a token of its login is answered ${status}`);
  }
  if ((await doors.post(`/${GET_ME}`, {}, bearing(first.refresh_token))).status !== 401)
    problems.push("a refresh token is taken for an access token");
  return findingOf(problems, "codes and refresh tokens are good once, and a thief ends the login for both");
}

async function guessedCodes(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { body } = await doors.post("/auth/device", { label: "victim's machine" });
  const { user_code: userCode, device_code: deviceCode } = JSON.parse(body) as { user_code: string; device_code: string };
  const { browser } = await doors.logIn("guesser");
  const statuses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => doors.call(browser, `${DEVICES}/FindDevice`, { userCode: `BBBBBBB${"BCDFGHJKLMNP"[index]}` })),
  );
  const looked = statuses.filter(({ status }) => status === 404).length;
  if (looked > 5) problems.push(`${looked} codes could be guessed at once`);
  const late = await doors.call(browser, `${DEVICES}/AnswerDevice`, { userCode, allow: true });
  if (late.status < 400) problems.push("after twelve wrong codes a right one is taken");
  const stranger = await doors.call(new TestBrowser(), `${DEVICES}/AnswerDevice`, { userCode, allow: true });
  if (stranger.status !== 401) problems.push(`who is not logged in answers: ${stranger.status}`);
  const polled = await doors.post("/auth/device/token", { device_code: deviceCode });
  const early = await doors.post("/auth/device/token", { device_code: deviceCode });
  if (polled.status !== 202 || early.status !== 429) problems.push(`polling is answered ${polled.status}, at once again ${early.status}`);
  if ((await doors.post("/auth/device/token", { device_code: userCode })).status !== 401)
    problems.push("the code that is typed gets a token");
  return findingOf(problems, "five guesses, and none by who is not logged in");
}

async function widenedScopes(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { browser } = await doors.logIn("dora", { groups: ["developers"] });
  const make = (scopes: string[], headers: Readonly<Record<string, string>> = OWN_PAGE, by = browser) =>
    doors.call(by, `${TOKENS}/CreateToken`, { label: "x", scopes }, headers);
  for (const scope of ["ADMIN", "AUDIT", "APPROVE"])
    if ((await make([`TOKEN_SCOPE_${scope}`])).status < 400) problems.push(`a developer makes a token for ${scope}`);
  const { secret } = JSON.parse((await make(["TOKEN_SCOPE_READ"])).body) as { secret: string };
  const nobody = new TestBrowser();
  if ((await make(["TOKEN_SCOPE_RUN"], bearing(secret), nobody)).status < 400) problems.push("a token makes a token");
  const remove = await doors.call(nobody, "hlvm.session.v1.SessionService/DeleteSession", { sessionId: randomUUID() }, bearing(secret));
  if (!remove.body.includes("scope_missing") && !remove.body.includes("takes a token with the scope"))
    problems.push(`a token that reads deletes: ${remove.status}`);
  const { browser: root } = await doors.logIn("root", { groups: ["chiefs"] });
  const admins = JSON.parse((await make(["TOKEN_SCOPE_ADMIN"], OWN_PAGE, root)).body) as { secret: string };
  const promote = await doors.call(
    nobody,
    `${MEMBERS}/PutRole`,
    { principal: "user:dora@acme.test", role: "MEMBER_ROLE_ADMIN" },
    bearing(admins.secret),
  );
  if (promote.status < 400) problems.push("an administrator's token gives roles");
  const list = () => doors.call(nobody, "hlvm.session.v1.SessionService/ListSessions", {}, bearing(secret));
  if ((await list()).status !== 200) problems.push("the token itself does not work");
  // At her next login the provider names other groups: what her token may shrinks with her.
  await doors.logIn("dora", { groups: [] });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  if ((await list()).status !== 403) problems.push("a token keeps what its owner has lost");
  return findingOf(problems, "tokens do what their scopes say, never more than their owner at that moment");
}

async function suspendedStream(doors: DoorsMesh): Promise<Finding> {
  const { browser } = await doors.logIn("sue", { groups: ["developers"] });
  const cookie = `${SESSION_COOKIE}=${browser.cookie(doors.url, SESSION_COOKIE)}`;
  const envelope = (text: string): Uint8Array<ArrayBuffer> => {
    const bytes = Buffer.from(text);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    return new Uint8Array(Buffer.concat([head, bytes]));
  };
  const response = await fetch(`${doors.url}/hlvm.watch.v1.WatchService/Watch`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", "sec-fetch-site": "same-origin", origin: doors.url, cookie },
    body: envelope(JSON.stringify({ topics: [{ name: "all", sessions: {} }] })),
  });
  const reader = response.body!.getReader();
  const first = await reader.read();
  if (first.done || response.status !== 200) return findingOf([`the stream does not begin: ${response.status}`], "");
  const { browser: root } = await doors.logIn("root", { groups: ["chiefs"] });
  await doors.call(root, `${MEMBERS}/SuspendMember`, { principal: "user:sue@acme.test" });
  const since = performance.now();
  let said = "";
  const late = setTimeout(() => void reader.cancel(), 2 * SUSPENDED_WITHIN_MILLISECONDS);
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) said += Buffer.from(chunk.value).toString("latin1");
  clearTimeout(late);
  const milliseconds = Math.round(performance.now() - since);
  const isLate = milliseconds > SUSPENDED_WITHIN_MILLISECONDS || !said.includes("unauthenticated");
  return findingOf(isLate ? [`the stream of a suspended member went on for ${milliseconds} ms`] : [], `it ended after ${milliseconds} ms`);
}

async function secretsInLogs(doors: DoorsMesh): Promise<Finding> {
  const { code, redeem, verifier } = await commandLogin(doors, "logged");
  const pair = JSON.parse((await redeem(verifier)).body) as Pair;
  const { browser } = await doors.logIn("logged");
  await new TestBrowser().send(`${doors.url}/auth/callback?code=callback-secret&state=state-secret`);
  await doors.post(`/${GET_ME}?token=${pair.access_token}`, {}, bearing("hlvm_pat_wrong-secret"));
  const cookie = browser.cookie(doors.url, SESSION_COOKIE)!;
  const secrets = {
    code,
    cookie,
    access: pair.access_token,
    refresh: pair.refresh_token,
    callback: "callback-secret",
    state: "state-secret",
    wrong: "wrong-secret",
    operator: doors.operatorToken,
  };
  const logs = doors.logs();
  const found = Object.entries(secrets).filter(([, secret]) => logs.includes(secret));
  return findingOf(
    found.map(([name]) => `the ${name} stands in a log`),
    `none of ${Object.keys(secrets).length} secrets stands in a log`,
  );
}

const attack = (name: string, run: (doors: DoorsMesh) => Promise<Finding>, onlyByCommand = false): AttackCase => ({
  group: "doors",
  name,
  onlyByCommand,
  run: async (mesh) => run(await mesh.doors()),
});

export const doorsTokens: readonly AttackCase[] = [
  attack("stolen codes and refresh tokens", stolenRefresh),
  attack("device codes that are guessed", guessedCodes),
  attack("scopes that are widened", widenedScopes),
  attack("secrets in logs", secretsInLogs),
  attack("the open stream of a suspended member", suspendedStream, true),
];
