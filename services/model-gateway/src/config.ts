import { isAbsolute } from "node:path";
import { httpUrl } from "@hlvm/config/http-url";
import { choice, integer, list, text, type Setting } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DIALECT_NAMES, type DialectName } from "./adapters/chat-completions/dialect.ts";
import type { Keeping } from "./adapters/llama/llama-instance.ts";
import type { KubernetesSettings } from "./adapters/llama/kubernetes-endpoints.ts";
import type { Replica } from "./domain/pool/slot-share.ts";
import { ResumeSeal } from "./domain/resume/resume-seal.ts";
import type { ResumeSettings } from "./rpc/resumable-answers.ts";
import { AUTO } from "./domain/routing/route.ts";

export const ANTHROPIC_URL = "https://api.anthropic.com";
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const OLLAMA_PORT = "11434";
const llamaUrls = list({
  variable: "HLVM_LLAMA_URLS",
  description:
    "llama-servers, separated by commas; dns+http://NAME:PORT is one at each of the name's addresses, k8s+http://SERVICE.NAMESPACE:PORT one at each ready endpoint",
  fallback: [],
});

const settings = {
  ...serviceSettings,
  defaultModel: {
    ...text({
      variable: "HLVM_MODEL",
      description: "provider/name, auto or route/NAME where a caller names no model; empty: the first provider that is set up",
      fallback: "",
    }),
    parse: modelName,
  },
  anthropicApiKeys: keys("ANTHROPIC_API_KEY", "key for Anthropic, or several, separated by commas"),
  anthropicBaseUrl: {
    ...text({ variable: "ANTHROPIC_BASE_URL", description: "where Anthropic's API is", fallback: ANTHROPIC_URL }),
    parse: httpUrl,
  },
  openaiApiKeys: keys("OPENAI_API_KEY", "key for OpenAI, or several, separated by commas"),
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
  compatibleApiKeys: keys("HLVM_OPENAI_COMPATIBLE_API_KEY", "its key, where it wants one, or several, separated by commas"),
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
  localUrl: {
    ...text({
      variable: "HLVM_LOCAL_URL",
      description: "the llama-server of this machine; none but one that listens on it",
      fallback: "http://127.0.0.1:11439",
    }),
    parse: localUrl,
  },
  ollamaUrl: {
    ...text({ variable: "HLVM_OLLAMA_URL", description: "an Ollama, for `hlvm ollama` alone; empty: none", fallback: "" }),
    parse: httpUrl,
  },
  routesFile: text({
    variable: "HLVM_ROUTES_FILE",
    description: "path of a JSON file with routes: which models may answer in place of each other",
    fallback: "",
  }),
  allowedModels: {
    ...list({
      variable: "HLVM_ALLOWED_MODELS",
      description: "the models that people may use, provider/name with * for any characters, separated by commas; empty: all",
      fallback: [],
    }),
    parse: modelPatterns,
  },
  databaseUrl: text({
    variable: "HLVM_DATABASE_URL",
    description: "the gateway's own PostgreSQL database, for keys of organizations and teams; empty: it keeps none",
    fallback: "",
  }),
  keyEncryptionKeys: text({
    variable: "HLVM_KEY_ENCRYPTION_KEYS",
    description: "path of a file with the keys that encrypt what is kept: a name and 32 bytes in base64 a line, the first one encrypts",
    fallback: "",
  }),
  vaultUrl: {
    ...text({ variable: "HLVM_VAULT_URL", description: "a Vault or OpenBao that encrypts in the place of that file", fallback: "" }),
    parse: httpUrl,
  },
  vaultKey: text({ variable: "HLVM_VAULT_KEY", description: "its transit engine and key, ENGINE/KEY", fallback: "transit/hlvm" }),
  vaultTokenFile: text({ variable: "HLVM_VAULT_TOKEN_FILE", description: "path of the file with the token for it", fallback: "" }),
  claudeCodePath: {
    ...text({
      variable: "HLVM_CLAUDE_CODE_PATH",
      description: "the program claude, an absolute path, for conversations without tools; empty: none",
      fallback: "",
    }),
    parse: absolutePath,
  },
  claudeCodeToken: text({ variable: "HLVM_CLAUDE_CODE_TOKEN", description: "what `claude setup-token` gives", fallback: "" }),
  scriptFile: text({ variable: "HLVM_SCRIPT_FILE", description: "path of the script that scripted/script plays", fallback: "" }),
  resumeKey: text({
    variable: "HLVM_RESUME_KEY",
    description:
      "a secret that all gateways share: with it one that was started again goes on with what llama-servers answer; empty: it does not",
    fallback: "",
  }),
  resumeSeconds: integer({
    variable: "HLVM_RESUME_SECONDS",
    description: "how long an answer waits for a service whose connection was lost; 0: it ends with its connection",
    fallback: 30,
    minimum: 0,
    maximum: 300,
  }),
  pricesFile: text({
    variable: "HLVM_PRICES_FILE",
    description: "path of a JSON file with prices that replace or add to those that come with HLVM, model by model",
    fallback: "",
  }),
};

/** Of the answers that are kept for callers whose connection was lost: one may take 2 MiB, all of them together 128, and there are 1,000. */
const KEPT_ANSWERS = { bytes: 2 * 1024 * 1024, allBytes: 128 * 1024 * 1024, answers: 1_000 };

export type Config = ReturnType<typeof readGatewayConfig>;

export function readGatewayConfig(environment: NodeJS.ProcessEnv) {
  return { ...readConfig(settings, environment), machine: machineOf(environment), kubernetes: clusterOf(environment) };
}

/** What a program that is started here may know: where programs are, and how the network is reached. */
function machineOf(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const names = ["PATH", "LANG", "TZ", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];
  return Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
}

/** As each pod is told; undefined outside of a cluster. */
function clusterOf({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv): KubernetesSettings | undefined {
  if (host === undefined || port === undefined) return undefined;
  return { url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`, folder: SERVICE_ACCOUNT };
}

function absolutePath(value: string): string {
  if (!isAbsolute(value)) throw new Error(`must be an absolute path, not "${value}"`);
  return value;
}

/** How long answers are kept for callers whose connection was lost, by whom, and how many of them. */
export function resumeSettings({ resumeKey, resumeSeconds, replicaName }: Config): ResumeSettings {
  return { limits: { ...KEPT_ANSWERS, seconds: resumeSeconds }, seal: new ResumeSeal(resumeKey), replica: replicaName };
}

/** What llama-servers go on with when this gateway ends; nothing where the next one could not know it. */
export function keeping(config: Config): Keeping {
  const { seal, replica, limits } = resumeSettings(config);
  return {
    prefix: config.resumeKey === "" || limits.seconds === 0 ? "" : seal.prefixOf(replica),
    graceMilliseconds: limits.seconds * 1_000,
  };
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
  httpUrl(value.replace(/^(?:dns|k8s)\+/, ""));
  return value;
}

/** Never shown, in an error neither: which one of them is wrong is told by its place. */
function keys(variable: string, description: string): Setting<readonly string[]> {
  const parse = (value: string): readonly string[] => {
    const given = value.split(",").map((key) => key.replaceAll(/^[ \t]+|[ \t]+$/g, ""));
    const wrong = given.findIndex((key) => !/^[\x21-\x7e]*$/.test(key));
    if (wrong !== -1)
      throw new Error(
        `has a key with a character that no header takes, a line break or a blank perhaps (the ${wrong + 1}. of ${given.length})`,
      );
    return [...new Set(given.filter((key) => key !== ""))];
  };
  return { ...list({ variable, description, fallback: [] }), parse };
}

/** An Ollama is no llama-server, and what is local goes nowhere else. */
function localUrl(value: string): string {
  const { protocol, hostname, port, pathname } = new URL(httpUrl(value));
  if (protocol !== "http:" || !/^(?:127(?:\.\d+){3}|\[::1\])$/.test(hostname) || pathname !== "/")
    throw new Error(`must be http://127.0.0.1:PORT, not "${value}"`);
  if (port === OLLAMA_PORT) throw new Error(`must not be Ollama's port ${OLLAMA_PORT}; HLVM_OLLAMA_URL is for that`);
  return value.replace(/\/$/, "");
}

function modelPatterns(value: string): readonly string[] {
  const patterns = list({ variable: "", description: "" }).parse(value);
  const wrong = patterns.find((pattern) => !/^[^/\s]+\/\S+$/.test(pattern) && pattern !== "*");
  if (wrong !== undefined) throw new Error(`must be of patterns such as anthropic/* or demo/rules, not "${wrong}"`);
  return patterns;
}

function modelName(value: string): string {
  if (value !== AUTO && !/^[^/]+\/./.test(value)) throw new Error(`must be provider/name, for example demo/rules, not "${value}"`);
  return value;
}
