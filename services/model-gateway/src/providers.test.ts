import { expect, it } from "vitest";
import { readGatewayConfig } from "./config.ts";
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
