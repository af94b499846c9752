import { afterAll, beforeAll, expect, it } from "vitest";
import { collect, generationOf, said, textIn } from "./adapters/suite/generations.ts";
import { frame, protocols } from "./adapters/suite/protocols.ts";
import { beginStream, readFixture, ReplayServer } from "./adapters/suite/replay-server.ts";
import { readGatewayConfig } from "./config.ts";
import { generate, type Retry } from "./domain/generate.ts";
import { ModelCatalogue } from "./domain/model-catalogue.ts";
import { DEFAULT_ORDER, providers } from "./providers.ts";

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1";

async function listed(environment: Record<string, string>): Promise<Map<string, string>> {
  const config = readGatewayConfig({ HLVM_TOKEN_PUBLIC_KEYS: "/keys.json", ...environment });
  const models = await new ModelCatalogue(providers(config), "", DEFAULT_ORDER).list(new AbortController().signal);
  return new Map(models.filter(({ isAvailable }) => !isAvailable).map(({ id, advice }) => [id, advice]));
}

it("shows every provider that is not set up, with what to set", async () => {
  const shown = await listed({});
  for (const [id, variable] of [
    ["anthropic/claude-opus-5-5", "ANTHROPIC_API_KEY"],
    ["openai/gpt-5.5", "OPENAI_API_KEY"],
    ["llama/*", "HLVM_LLAMA_URLS"],
    ["openai-compatible/*", "HLVM_OPENAI_COMPATIBLE_URL"],
    ["scripted/*", "HLVM_SCRIPT_FILE"],
  ] as const)
    expect(shown.get(id)).toContain(`Set ${variable}`);
});

it("shows a provider that is set up and down, with what is wrong", async () => {
  const shown = await listed({ HLVM_LLAMA_URLS: NOWHERE, HLVM_OPENAI_COMPATIBLE_URL: `${NOWHERE}/v1` });
  expect(shown.get("llama/*")).toMatch(/^llama cannot be reached: .*HLVM_LLAMA_URLS/);
  expect(shown.get("openai-compatible/*")).toMatch(/^openai-compatible cannot be reached: .*HLVM_OPENAI_COMPATIBLE_URL/);
});

const server = new ReplayServer();
let url: string;
beforeAll(async () => void (url = await server.start()));
afterAll(() => server.stop());

it.each([
  ["anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""],
  ["openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"],
  ["openai-compatible", "HLVM_OPENAI_COMPATIBLE_API_KEY", "HLVM_OPENAI_COMPATIBLE_URL", "/v1"],
] as const)("tries the next key of %s where one is refused, and goes on with that one", async (name, keyVariable, urlVariable, path) => {
  const { folder, closing, model } = protocols.find(({ provider }) => provider === name)!;
  const keys = ["first-key-of-the-suite-aaaa", "second-key-of-the-suite-bbbb"];
  const keyOf = (headers: NodeJS.Dict<string | string[]>) => String(headers["x-api-key"] ?? headers.authorization).replace("Bearer ", "");
  server.play((response) => {
    if (keyOf(response.req.headers) === keys[0]) return void response.writeHead(401, { "content-type": "application/json" }).end("{}");
    beginStream(response).end(readFixture(folder, "text").map(frame).join("") + closing);
  });
  const config = readGatewayConfig({ HLVM_TOKEN_PUBLIC_KEYS: "/keys.json", [keyVariable]: keys.join(), [urlVariable]: `${url}${path}` });
  const catalogue = new ModelCatalogue(providers(config), "", DEFAULT_ORDER);
  const retries: Retry[] = [];
  const options = {
    signal: new AbortController().signal,
    remainingMilliseconds: undefined,
    onRetry: (retry: Retry) => void retries.push(retry),
  };
  const ask = async () =>
    textIn(await collect(generate(catalogue.find(`${name}/${model}`), generationOf(model, [said("user", "?")]), options)));
  expect([await ask(), await ask()]).toEqual(["Hello, world.", "Hello, world."]);
  expect(server.requests.map(({ headers }) => keyOf(headers))).toEqual([keys[0], keys[1], keys[1]]);
  expect(retries).toMatchObject([{ keyEnding: "aaaa", error: { reason: "key_refused" } }]);
  expect(JSON.stringify(retries)).not.toContain("first-key");
});
