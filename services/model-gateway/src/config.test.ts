import { expect, it } from "vitest";
import { llamaReplica, readGatewayConfig } from "./config.ts";
import { providers } from "./providers.ts";

const needed = { HLVM_TOKEN_PUBLIC_KEYS: "/keys.json" };

it("sets up what has a key or a URL, and the demo always", () => {
  const setUp = (environment: Record<string, string>): string[] =>
    providers(readGatewayConfig({ ...needed, ...environment })).flatMap(({ name, provider }) => (provider === undefined ? [] : [name]));
  expect(setUp({})).toEqual(["demo"]);
  expect(setUp({ OPENAI_API_KEY: "k", HLVM_LLAMA_URLS: "http://a, http://b" })).toEqual(["openai", "llama", "demo"]);
  expect(setUp({ ANTHROPIC_API_KEY: "k", HLVM_OPENAI_COMPATIBLE_URL: "http://a/v1" })).toEqual(["anthropic", "openai-compatible", "demo"]);
});

it("refuses a default model without its provider at the start", () => {
  expect(() => readGatewayConfig({ ...needed, HLVM_MODEL: "gpt-5.5" })).toThrow(
    'HLVM_MODEL must be provider/name, for example demo/rules, not "gpt-5.5"',
  );
});

it.each(["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HLVM_OPENAI_COMPATIBLE_URL", "HLVM_LLAMA_URLS"])(
  "refuses a URL that is none at the start: %s",
  (variable) => {
    for (const url of ["127.0.0.1:8080", "localhost", "file:///x", "http://a, not a url"])
      expect(() => readGatewayConfig({ ...needed, [variable]: url })).toThrow(
        `${variable} must be a URL that begins with http:// or https://`,
      );
    expect(() => readGatewayConfig({ ...needed, [variable]: "https://127.0.0.1:8080/v1" })).not.toThrow();
  },
);

it("takes names of llama-servers to look up, and has each of several gateways say which one it is", () => {
  const urls = "dns+http://llama.svc:8080, http://a";
  expect(readGatewayConfig({ ...needed, HLVM_LLAMA_URLS: urls }).llamaUrls).toEqual(["dns+http://llama.svc:8080", "http://a"]);
  expect(() => readGatewayConfig({ ...needed, HLVM_LLAMA_URLS: "dns+llama.svc" })).toThrow("HLVM_LLAMA_URLS must be a URL");
  const indexOf = (name: string): number =>
    llamaReplica(readGatewayConfig({ ...needed, HLVM_LLAMA_REPLICAS: "3", HLVM_REPLICA_NAME: name })).index;
  expect(new Set(["model-gateway-1", "model-gateway-2", "model-gateway-3"].map(indexOf)).size).toBe(3);
  expect(() => indexOf("model-gateway")).toThrow("HLVM_LLAMA_REPLICAS says that 3 gateways share the llama-servers");
  expect(llamaReplica(readGatewayConfig(needed))).toEqual({ index: 0, count: 1 });
});
