import { httpUrl } from "@hlvm/config/http-url";
import { choice, integer, list, text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DIALECT_NAMES, type DialectName } from "./adapters/chat-completions/dialect.ts";
import type { Replica } from "./domain/pool/slot-share.ts";

const llamaUrls = list({
  variable: "HLVM_LLAMA_URLS",
  description: "llama-servers, separated by commas; dns+http://NAME:PORT is one at each of the name's addresses",
  fallback: [],
});

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
  llamaUrls: { ...llamaUrls, parse: (value: string) => llamaUrls.parse(value).map(serverUrl) },
  llamaUrlsFile: text({
    variable: "HLVM_LLAMA_URLS_FILE",
    description: "path of a file with further llama-servers, one on a line; read again when it changes",
    fallback: "",
  }),
  llamaReplicas: integer({
    variable: "HLVM_LLAMA_REPLICAS",
    description: "how many gateways use the same llama-servers; each gets its part of their slots",
    fallback: 1,
    minimum: 1,
    maximum: 64,
  }),
  replicaName: text({
    variable: "HLVM_REPLICA_NAME",
    description: "a name of its own that ends with its number, as a StatefulSet's pods have; needed where there are several",
    fallback: "",
  }),
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

/**
 * Which part of the llama-servers' slots is this gateway's: names that end with following numbers give each another one.
 * @throws HlvmError `replica_without_number`
 */
export function llamaReplica({ llamaReplicas: count, replicaName }: Pick<Config, "llamaReplicas" | "replicaName">): Replica {
  const number = /(\d+)$/.exec(replicaName)?.[1];
  if (count === 1) return { index: 0, count };
  if (number !== undefined) return { index: Number(number) % count, count };
  throw new HlvmError({
    code: "invalid_argument",
    reason: "replica_without_number",
    message: `HLVM_LLAMA_REPLICAS says that ${count} gateways share the llama-servers, and "${replicaName}" is the name of none of them.`,
    advice: "Give each an HLVM_REPLICA_NAME that ends with its number: model-gateway-0, model-gateway-1 and so on.",
  });
}

function serverUrl(value: string): string {
  httpUrl(value.replace(/^dns\+/, ""));
  return value;
}

function modelName(value: string): string {
  if (!/^[^/]+\/./.test(value)) throw new Error(`must be provider/name, for example demo/rules, not "${value}"`);
  return value;
}
