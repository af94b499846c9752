import { AnthropicProvider } from "./adapters/anthropic/anthropic-provider.ts";
import { ChatCompletionsProvider } from "./adapters/chat-completions/chat-completions-provider.ts";
import { ClaudeCodeProvider } from "./adapters/claude-code/claude-code-provider.ts";
import { CLAUDE_CODE } from "./adapters/claude-code/claude-failure.ts";
import { DemoProvider } from "./adapters/demo/demo-provider.ts";
import { withEmbeddings } from "./adapters/embeddings/with-embeddings.ts";
import { LLAMA } from "./adapters/llama/provider-name.ts";
import { LocalProvider } from "./adapters/llama/local-provider.ts";
import { LlamaProvider } from "./adapters/llama/llama-provider.ts";
import { OpenaiProvider } from "./adapters/openai/openai-provider.ts";
import { readScript } from "./adapters/scripted/script.ts";
import { ScriptedProvider } from "./adapters/scripted/scripted-provider.ts";
import { ANTHROPIC_URL, keeping, llamaReplica, type Config } from "./config.ts";
import { endingOf } from "./domain/keys/change-keys.ts";
import { HOSTED_MODELS } from "./domain/hosted-models.ts";
import type { Provider } from "./domain/provider.ts";
import type { CataloguedProvider } from "./domain/model-catalogue.ts";

/** Which set-up provider gives the default model, where none is named. */
export const DEFAULT_ORDER = ["anthropic", "openai", "llama", "demo"] as const;

/** Every provider that there is, ready where its key or URL is set. */
export function providers(config: Config): readonly CataloguedProvider[] {
  return [
    {
      name: "anthropic",
      ...withKeys(config.anthropicApiKeys, (apiKey) => anthropicProvider(config, apiKey)),
      setUp: "Set ANTHROPIC_API_KEY and start again, or give a key: `hlvm model key add anthropic`.",
      known: HOSTED_MODELS.anthropic,
    },
    {
      name: "openai",
      ...withKeys(config.openaiApiKeys, (apiKey) => openaiProvider(config, apiKey)),
      setUp: "Set OPENAI_API_KEY and start again, or give a key: `hlvm model key add openai`.",
      known: HOSTED_MODELS.openai,
    },
    {
      name: "llama",
      provider: config.llamaUrls.length === 0 && config.llamaUrlsFile === "" ? undefined : llamaProvider(config),
      setUp: "Set HLVM_LLAMA_URLS to the URLs of one or more llama-servers, separated by commas, and start again.",
      known: [],
      isLocal: config.llamaUrlsFile === "" && config.llamaUrls.length > 0 && config.llamaUrls.every(isOnThisMachine),
    },
    ...localProviders(config),
    {
      name: "openai-compatible",
      ...withKeys(config.compatibleUrl === "" ? [] : orNone(config.compatibleApiKeys), (apiKey) => compatibleProvider(config, apiKey)),
      setUp: "Set HLVM_OPENAI_COMPATIBLE_URL to the server's URL (up to and without /chat/completions) and start again.",
      known: [],
      isLocal: config.compatibleUrl !== "" && isOnThisMachine(config.compatibleUrl),
    },
    {
      name: CLAUDE_CODE,
      provider: config.claudeCodePath === "" ? undefined : claudeCodeProvider(config),
      setUp: "Set HLVM_CLAUDE_CODE_PATH to the path of the program claude, and start again.",
      known: [],
      isApart: true,
    },
    {
      name: "scripted",
      provider: config.scriptFile === "" ? undefined : new ScriptedProvider(readScript(config.scriptFile)),
      setUp: "Set HLVM_SCRIPT_FILE to the path of a script and start again.",
      known: [],
      isLocal: true,
      isStandIn: true,
    },
    { name: "demo", provider: new DemoProvider(), setUp: "", known: [], isLocal: true, isStandIn: true },
  ];
}

export function anthropicProvider({ anthropicBaseUrl: baseUrl }: Config, apiKey: string): Provider {
  return new AnthropicProvider({ apiKey, baseUrl });
}

export function openaiProvider({ openaiBaseUrl: baseUrl }: Config, apiKey: string): Provider {
  return withEmbeddings(new OpenaiProvider({ apiKey, baseUrl }), { name: "openai", baseUrls: () => [baseUrl], apiKey });
}

export function compatibleProvider({ compatibleUrl, compatibleDialect }: Config, apiKey: string): Provider {
  const name = "openai-compatible";
  const dialect = compatibleDialect === "" ? {} : { dialect: compatibleDialect };
  const provider = new ChatCompletionsProvider({ name, baseUrl: compatibleUrl, apiKey, ...dialect });
  return withEmbeddings(provider, { name, baseUrls: () => [compatibleUrl], apiKey });
}

function claudeCodeProvider({ claudeCodePath, claudeCodeToken, anthropicBaseUrl, machine }: Config): Provider {
  const baseUrl = anthropicBaseUrl === ANTHROPIC_URL ? {} : { baseUrl: anthropicBaseUrl };
  return new ClaudeCodeProvider({ path: claudeCodePath, token: claudeCodeToken, environment: machine, ...baseUrl });
}

function llamaProvider(config: Config): Provider {
  const { llamaUrls: urls, llamaUrlsFile: urlsFile, kubernetes } = config;
  const provider = new LlamaProvider({
    urls,
    urlsFile,
    kubernetes,
    replica: llamaReplica(config),
    keeping: keeping(config),
    warmsPrefixes: true,
  });
  return withEmbeddings(provider, { name: LLAMA, baseUrls: (model) => provider.urlsFor(model), apiKey: "" });
}

/** It with each of these keys; none where there are none. */
export function withKeys(keys: readonly string[], create: (key: string) => Provider): Pick<CataloguedProvider, "provider" | "keyed"> {
  const keyed = keys.map((key) => ({ ending: endingOf(key), provider: create(key) }));
  return { provider: keyed[0]?.provider, keyed };
}

function orNone(keys: readonly string[]): readonly string[] {
  return keys.length === 0 ? [""] : keys;
}

/** The llama-server of this machine, unless it is one of the pool's; and an Ollama, only where one is named. */
function localProviders(config: Config): CataloguedProvider[] {
  const { localUrl, llamaUrls, ollamaUrl } = config;
  const isOfPool = llamaUrls.some((url) => new URL(url).origin === new URL(localUrl).origin);
  const local: CataloguedProvider = {
    name: "local",
    provider: new LocalProvider(localUrl, keeping(config)),
    setUp: "",
    known: [],
    isLocal: true,
  };
  const baseUrl = `${ollamaUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  const ollama: CataloguedProvider = {
    name: "ollama",
    provider: ollamaUrl === "" ? undefined : new ChatCompletionsProvider({ name: "ollama", baseUrl, apiKey: "" }),
    setUp: "Set HLVM_OLLAMA_URL, for example to http://127.0.0.1:11434, and start again.",
    known: [],
    isApart: true,
  };
  return [...(isOfPool ? [] : [local]), ollama];
}

function isOnThisMachine(url: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
