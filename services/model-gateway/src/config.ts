import { integer, list, text } from "@hlvm/config/knob";
import { readConfig } from "@hlvm/config/read-config";

const knobs = {
  host: text({ variable: "HLVM_HOST", description: "address to listen on", fallback: "127.0.0.1" }),
  port: integer({ variable: "HLVM_PORT", description: "port to listen on; 0: any free one", fallback: 0, minimum: 0, maximum: 65_535 }),
  tokenPublicKeys: text({ variable: "HLVM_TOKEN_PUBLIC_KEYS", description: "path of the JWK set that internal tokens are checked with" }),
  defaultModel: {
    ...text({
      variable: "HLVM_MODEL",
      description: "provider/name where a caller names no model; empty: the first provider that is set up",
      fallback: "",
    }),
    parse: modelName,
  },
  anthropicApiKey: text({ variable: "ANTHROPIC_API_KEY", description: "key for Anthropic", fallback: "" }),
  anthropicBaseUrl: text({
    variable: "ANTHROPIC_BASE_URL",
    description: "where Anthropic's API is",
    fallback: "https://api.anthropic.com",
  }),
  openaiApiKey: text({ variable: "OPENAI_API_KEY", description: "key for OpenAI", fallback: "" }),
  openaiBaseUrl: text({ variable: "OPENAI_BASE_URL", description: "where OpenAI's API is", fallback: "https://api.openai.com/v1" }),
  compatibleUrl: text({
    variable: "HLVM_OPENAI_COMPATIBLE_URL",
    description: "a server of OpenAI-style chat completions, up to and without /chat/completions",
    fallback: "",
  }),
  compatibleApiKey: text({ variable: "HLVM_OPENAI_COMPATIBLE_API_KEY", description: "its key, where it wants one", fallback: "" }),
  llamaUrls: list({ variable: "HLVM_LLAMA_URLS", description: "llama-servers, separated by commas", fallback: [] }),
  scriptFile: text({ variable: "HLVM_SCRIPT_FILE", description: "path of the script that scripted/script plays", fallback: "" }),
};

export type Config = ReturnType<typeof readGatewayConfig>;

export function readGatewayConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(knobs, environment);
}

function modelName(value: string): string {
  if (!/^[^/]+\/./.test(value)) throw new Error(`must be provider/name, for example demo/rules, not "${value}"`);
  return value;
}
