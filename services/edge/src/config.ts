import { integer, text, type Setting } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { serviceUrl } from "@hlvm/config/service-url";
import { isLoopback } from "./http/loopback-host.ts";

/** The one user of the local mode comes over plain HTTP, which must not leave the machine. */
const loopbackAddress: Setting<string> = {
  variable: "HLVM_HOST",
  description: "Loopback address to listen on.",
  fallback: "127.0.0.1",
  parse: (value) => {
    if (!isLoopback(value))
      throw new Error(`must be a loopback address such as 127.0.0.1, not "${value}": the edge has no TLS and one user`);
    return value;
  },
};

/** Every setting of the edge. */
export const settings = {
  host: loopbackAddress,
  port: integer({
    variable: "HLVM_PORT",
    description: "Port to listen on; 0 takes any free one.",
    fallback: 11_435,
    minimum: 0,
    maximum: 65_535,
  }),
  connectionAgeSeconds: serviceSettings.connectionAgeSeconds,
  tokenSigningKey: text({ variable: "HLVM_TOKEN_SIGNING_KEY", description: "File with the private JWK that signs internal tokens." }),
  localTokenFile: text({ variable: "HLVM_LOCAL_TOKEN_FILE", description: "File with the token of the local user." }),
  webDirectory: text({ variable: "HLVM_WEB_DIR", description: "Folder with the built page; empty: there is no page.", fallback: "" }),
  orchestrator: serviceUrl({ variable: "HLVM_ORCHESTRATOR_URL", description: "Where the orchestrator listens." }),
  "model-gateway": serviceUrl({ variable: "HLVM_MODEL_GATEWAY_URL", description: "Where the model gateway listens." }),
  sandbox: serviceUrl({ variable: "HLVM_SANDBOX_URL", description: "Where the sandbox service listens." }),
  policy: serviceUrl({ variable: "HLVM_POLICY_URL", description: "Where policy and audit listen." }),
  memory: serviceUrl({ variable: "HLVM_MEMORY_URL", description: "Where memory listens." }),
} as const;

export function readEdgeConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(settings, environment);
}
