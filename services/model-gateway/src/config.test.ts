import { expect, it } from "vitest";
import { llamaReplica, readGatewayConfig } from "./config.ts";
import { providers } from "./providers.ts";

const needed = { HLVM_TOKEN_PUBLIC_KEYS: "/keys.json" };

it("sets up what has a key or a URL, this machine's llama-server and the demo always, and Ollama only where it is named", () => {
  const setUp = (environment: Record<string, string>): string[] =>
    providers(readGatewayConfig({ ...needed, ...environment })).flatMap(({ name, provider }) => (provider === undefined ? [] : [name]));
  expect(setUp({})).toEqual(["local", "demo"]);
  expect(setUp({ HLVM_LLAMA_URLS: "http://127.0.0.1:11439/v1" })).toEqual(["llama", "demo"]);
  expect(setUp({ HLVM_OLLAMA_URL: "http://127.0.0.1:11434" })).toEqual(["local", "ollama", "demo"]);
  const chosenByNobody = providers(readGatewayConfig(needed)).filter(({ isApart }) => isApart);
  expect(chosenByNobody.map(({ name }) => name)).toEqual(["ollama", "claude-code"]);
  expect(setUp({ HLVM_CLAUDE_CODE_PATH: "/opt/claude" })).toEqual(["local", "claude-code", "demo"]);
  expect(() => setUp({ HLVM_CLAUDE_CODE_PATH: "claude" })).toThrow(/HLVM_CLAUDE_CODE_PATH must be an absolute path/);
  expect(setUp({ OPENAI_API_KEY: "k", HLVM_LLAMA_URLS: "http://a, http://b" })).toEqual(["openai", "llama", "local", "demo"]);
  expect(setUp({ ANTHROPIC_API_KEY: "k", HLVM_OPENAI_COMPATIBLE_URL: "http://a/v1" })).toEqual([
    "anthropic",
    "local",
    "openai-compatible",
    "demo",
  ]);
});

it("refuses a default model without its provider at the start", () => {
  expect(() => readGatewayConfig({ ...needed, HLVM_MODEL: "gpt-5.5" })).toThrow(
    'HLVM_MODEL must be provider/name, for example demo/rules, not "gpt-5.5"',
  );
});

it("takes several keys, and refuses what no header takes without showing it", () => {
  const keysOf = (value: string) => readGatewayConfig({ ...needed, OPENAI_API_KEY: value }).openaiApiKeys;
  expect(keysOf("sk-one, sk-two ,sk-one,")).toEqual(["sk-one", "sk-two"]);
  for (const value of ["sk-one,sk-secret\n", "sk-one,sk secret", "sk-one,sk-sécret", "sk-one,\u0000sk-secret"]) {
    expect(() => keysOf(value)).toThrow(/OPENAI_API_KEY has a key with a character that no header takes.*the 2. of 2/);
    expect(() => keysOf(value)).not.toThrow(/s.?cret/);
  }
});

it.each([
  "http://10.0.0.1:11439",
  "http://localhost:11439",
  "https://127.0.0.1:11439",
  "http://127.0.0.1:11434",
  "http://127.0.0.1.evil.example:1",
])("refuses a local server that is not on this machine, or is an Ollama: %s", (url) =>
  expect(() => readGatewayConfig({ ...needed, HLVM_LOCAL_URL: url })).toThrow(/HLVM_LOCAL_URL must/),
);

it("refuses a pattern of models that can match none", () => {
  expect(() => readGatewayConfig({ ...needed, HLVM_ALLOWED_MODELS: "anthropic/*, claude" })).toThrow(/HLVM_ALLOWED_MODELS must .*"claude"/);
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
  const urls = "dns+http://llama.svc:8080, http://a, k8s+http://llama.gpu";
  expect(readGatewayConfig({ ...needed, HLVM_LLAMA_URLS: urls }).llamaUrls).toEqual([
    "dns+http://llama.svc:8080",
    "http://a",
    "k8s+http://llama.gpu",
  ]);
  const inCluster = { ...needed, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  expect([readGatewayConfig(inCluster).kubernetes?.url, readGatewayConfig(needed).kubernetes]).toEqual([
    "https://[fd00::1]:443",
    undefined,
  ]);
  expect(() => readGatewayConfig({ ...needed, HLVM_LLAMA_URLS: "dns+llama.svc" })).toThrow("HLVM_LLAMA_URLS must be a URL");
  const indexOf = (name: string): number =>
    llamaReplica(readGatewayConfig({ ...needed, HLVM_LLAMA_REPLICAS: "3", HLVM_REPLICA_NAME: name })).index;
  expect(new Set(["model-gateway-1", "model-gateway-2", "model-gateway-3"].map(indexOf)).size).toBe(3);
  expect(() => indexOf("model-gateway")).toThrow("HLVM_LLAMA_REPLICAS says that 3 gateways share the llama-servers");
  expect(llamaReplica(readGatewayConfig(needed))).toEqual({ index: 0, count: 1 });
});
