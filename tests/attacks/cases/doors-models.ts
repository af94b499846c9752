import { TestBrowser } from "@hlvm/testing/test-browser";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { OWN_PAGE, type DoorsMesh } from "../doors-mesh.ts";

const CHAT = "/v1/chat/completions";
const asked = (model: string, more: object = {}) => ({ model, messages: [{ role: "user", content: "Hello" }], ...more });
const bearing = (token: string) => ({ "content-type": "application/json", authorization: `Bearer ${token}` });

async function tokenFor(doors: DoorsMesh, allowedModels: readonly string[]) {
  const { browser } = await doors.logIn("modeller", { groups: ["developers"] });
  const made = await doors.call(
    browser,
    "hlvm.identity.v1.TokenService/CreateToken",
    { label: "x", scopes: ["TOKEN_SCOPE_MODEL"], allowedModels },
    OWN_PAGE,
  );
  return { browser, secret: (JSON.parse(made.body) as { secret: string }).secret };
}

/** Names that look like a permitted model, and ways to have one's own server called. */
async function otherModels(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { secret } = await tokenFor(doors, ["demo/r*"]);
  const control = await doors.post(CHAT, asked("demo/rules"), bearing(secret));
  if (control.status !== 200) problems.push(`the permitted model itself is answered ${control.status}`);
  const names = [
    "scripted/script",
    "openai/demo/rules",
    "Demo/rules",
    "demo/rules\0",
    " demo/rules",
    "demo//rules",
    "demo/r/../../openai/gpt-5",
    "demo/rules/http://127.0.0.1:9/",
    "*",
    "demo/*",
  ];
  for (const name of names) {
    const { status } = await doors.post(CHAT, asked(name), bearing(secret));
    if (status < 400 || status >= 500) problems.push(`the model ${JSON.stringify(name)} is answered ${status}`);
  }
  for (const field of ["base_url", "api_base", "api_key", "provider", "endpoint"]) {
    const { status, body } = await doors.post(CHAT, asked("demo/rules", { [field]: "http://127.0.0.1:9" }), bearing(secret));
    if (status !== 400 || !body.includes(field)) problems.push(`a request with ${field} is answered ${status}`);
  }
  const image = { role: "user", content: [{ type: "image_url", image_url: { url: "http://169.254.169.254/latest" } }] };
  if ((await doors.post(CHAT, { model: "demo/rules", messages: [image] }, bearing(secret))).status !== 400)
    problems.push("an address in a request is taken");
  return findingOf(problems, "a token reaches the models that it is for, by their names, and no server of the caller's choosing");
}

/** What is a key elsewhere, and what a key for models opens elsewhere. */
async function otherKeys(doors: DoorsMesh): Promise<Finding> {
  const problems: string[] = [];
  const { browser, secret } = await tokenFor(doors, []);
  const byCookie = await browser.send(`${doors.url}${CHAT}`, {
    method: "POST",
    headers: OWN_PAGE,
    body: JSON.stringify(asked("demo/rules")),
  });
  if (byCookie.status !== 401) problems.push(`a cookie is taken for a key: ${byCookie.status}`);
  const nobody = new TestBrowser();
  for (const method of [
    "session.v1.SessionService/ListSessions",
    "session.v1.SpendingService/ListBudgets",
    "audit.v1.AuditService/Query",
    "memory.v1.MemoryService/ListFacts",
  ]) {
    const { status } = await doors.call(nobody, `hlvm.${method}`, {}, bearing(secret));
    if (status !== 403) problems.push(`a key for models is answered ${status} by ${method}`);
  }
  for (const method of ["model.v1.ModelService/Generate", "model.v1.ModelService/Embed", "session.v1.ModelCallService/CallModel"]) {
    const { status } = await doors.call(nobody, `hlvm.${method}`, {}, bearing(secret));
    if (status < 400) problems.push(`${method} is open`);
  }
  if ((await doors.post("/api/chat", { messages: [{ role: "user", content: "x" }], workspace: "/tmp" }, bearing(secret))).status !== 403)
    problems.push("a key for models begins a run");
  return findingOf(problems, "keys for models open the model doors alone, and nothing else opens those");
}

export const doorsModels: readonly AttackCase[] = [
  {
    group: "doors",
    name: "a key for one model, used for others and for servers of one's own",
    run: async (mesh) => otherModels(await mesh.doors()),
  },
  {
    group: "doors",
    name: "other credentials at the model doors, and theirs elsewhere",
    run: async (mesh) => otherKeys(await mesh.doors()),
  },
];
