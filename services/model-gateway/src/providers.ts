import { AnthropicProvider } from "./adapters/anthropic/anthropic-provider.ts";
import { ChatCompletionsProvider } from "./adapters/chat-completions/chat-completions-provider.ts";
import { DemoProvider } from "./adapters/demo/demo-provider.ts";
import { withEmbeddings } from "./adapters/embeddings/with-embeddings.ts";
import { LLAMA } from "./adapters/llama/llama-instance.ts";
import { LlamaProvider } from "./adapters/llama/llama-provider.ts";
import { OpenaiProvider } from "./adapters/openai/openai-provider.ts";
import { readScript } from "./adapters/scripted/script.ts";
import { ScriptedProvider } from "./adapters/scripted/scripted-provider.ts";
import { llamaReplica, type Config } from "./config.ts";
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
      provider:
        config.anthropicApiKey === ""
          ? undefined
          : new AnthropicProvider({ apiKey: config.anthropicApiKey, baseUrl: config.anthropicBaseUrl }),
      setUp: "Set ANTHROPIC_API_KEY and start again.",
      known: HOSTED_MODELS.anthropic,
    },
    {
      name: "openai",
      provider:
        config.openaiApiKey === ""
          ? undefined
          : withEmbeddings(new OpenaiProvider({ apiKey: config.openaiApiKey, baseUrl: config.openaiBaseUrl }), {
              name: "openai",
              baseUrls: () => [config.openaiBaseUrl],
              apiKey: config.openaiApiKey,
            }),
      setUp: "Set OPENAI_API_KEY and start again.",
      known: HOSTED_MODELS.openai,
    },
    {
      name: "llama",
      provider: config.llamaUrls.length === 0 && config.llamaUrlsFile === "" ? undefined : llamaProvider(config),
      setUp: "Set HLVM_LLAMA_URLS to the URLs of one or more llama-servers, separated by commas, and start again.",
      known: [],
    },
    {
      name: "openai-compatible",
      provider:
        config.compatibleUrl === ""
          ? undefined
          : withEmbeddings(
              new ChatCompletionsProvider({
                name: "openai-compatible",
                baseUrl: config.compatibleUrl,
                apiKey: config.compatibleApiKey,
                ...(config.compatibleDialect === "" ? {} : { dialect: config.compatibleDialect }),
              }),
              { name: "openai-compatible", baseUrls: () => [config.compatibleUrl], apiKey: config.compatibleApiKey },
            ),
      setUp: "Set HLVM_OPENAI_COMPATIBLE_URL to the server's URL (up to and without /chat/completions) and start again.",
      known: [],
    },
    {
      name: "scripted",
      provider: config.scriptFile === "" ? undefined : new ScriptedProvider(readScript(config.scriptFile)),
      setUp: "Set HLVM_SCRIPT_FILE to the path of a script and start again.",
      known: [],
    },
    { name: "demo", provider: new DemoProvider(), setUp: "", known: [] },
  ];
}

function llamaProvider(config: Config): Provider {
  const provider = new LlamaProvider({ urls: config.llamaUrls, urlsFile: config.llamaUrlsFile, replica: llamaReplica(config) });
  return withEmbeddings(provider, { name: LLAMA, baseUrls: (model) => provider.urlsFor(model), apiKey: "" });
}
