import { httpUrl } from "@hlvm/config/http-url";
import { choice, list, text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { DIALECT_NAMES, type DialectName } from "./adapters/chat-completions/dialect.ts";

const llamaUrls = list({ variable: "HLVM_LLAMA_URLS", description: "llama-servers, separated by commas", fallback: [] });

const settings = {
  ...serviceSettings,
  defaultModel: {
    ...text({
      variable: "HLVM_MODEL",
      description: "provider/name where a caller names no model; empty: the first provider that is set up",
      fallback: "",
    }),
    parse: modelName,
  },
  anthropicApiKey: text({ variable: "ANTHROPIC_API_KEY", description: "key for Anthropic", fallback: "" }),
  anthropicBaseUrl: {
    ...text({ variable: "ANTHROPIC_BASE_URL", description: "where Anthropic's API is", fallback: "https://api.anthropic.com" }),
    parse: httpUrl,
  },
  openaiApiKey: text({ variable: "OPENAI_API_KEY", description: "key for OpenAI", fallback: "" }),
  openaiBaseUrl: {
    ...text({ variable: "OPENAI_BASE_URL", description: "where OpenAI's API is", fallback: "https://api.openai.com/v1" }),
    parse: httpUrl,
  },
  compatibleUrl: {
    ...text({
      variable: "HLVM_OPENAI_COMPATIBLE_URL",
      description: "a server of OpenAI-style chat completions, up to and without /chat/completions",
      fallback: "",
    }),
    parse: httpUrl,
  },
  compatibleApiKey: text({ variable: "HLVM_OPENAI_COMPATIBLE_API_KEY", description: "its key, where it wants one", fallback: "" }),
  compatibleDialect: choice<DialectName | "">({
    variable: "HLVM_OPENAI_COMPATIBLE_DIALECT",
    description: `what it is, where its address does not say: ${DIALECT_NAMES.join(", ")}`,
    fallback: "",
    choices: ["", ...DIALECT_NAMES],
  }),
  llamaUrls: { ...llamaUrls, parse: (value: string) => llamaUrls.parse(value).map(httpUrl) },
  scriptFile: text({ variable: "HLVM_SCRIPT_FILE", description: "path of the script that scripted/script plays", fallback: "" }),
  pricesFile: text({
    variable: "HLVM_PRICES_FILE",
    description: "path of a JSON file with prices that replace or add to those that come with HLVM, model by model",
    fallback: "",
  }),
};

export type Config = ReturnType<typeof readGatewayConfig>;

export function readGatewayConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(settings, environment);
}

function modelName(value: string): string {
  if (!/^[^/]+\/./.test(value)) throw new Error(`must be provider/name, for example demo/rules, not "${value}"`);
  return value;
}
