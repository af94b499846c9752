import { integer, text, type Setting } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { serviceUrl } from "@hlvm/config/service-url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
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

/** Of team mode: the company's identity provider, and what the edge is to it. Without an issuer it is local mode. */
export const teamSettings = {
  issuer: text({
    variable: "HLVM_OIDC_ISSUER",
    description: "Identity provider of the company (OpenID Connect); empty: local mode, one user.",
    fallback: "",
  }),
  clientId: text({ variable: "HLVM_OIDC_CLIENT_ID", description: "What the identity provider calls HLVM.", fallback: "" }),
  clientSecret: text({
    variable: "HLVM_OIDC_CLIENT_SECRET",
    description: "The secret that HLVM has with the identity provider.",
    fallback: "",
  }),
  publicUrl: text({
    variable: "HLVM_PUBLIC_URL",
    description: "Where browsers find the edge; https, or http on this machine.",
    fallback: "",
  }),
  organization: text({ variable: "HLVM_ORGANIZATION", description: "The company, in every record about its people.", fallback: "default" }),
} as const;

/** Every other setting of the edge. */
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

/** What team mode needs, complete. */
export interface TeamConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly publicUrl: URL;
  readonly organization: string;
}

/** @throws HlvmError `invalid_configuration` */
export function readEdgeConfig(environment: NodeJS.ProcessEnv) {
  const { publicUrl, ...given } = readConfig(teamSettings, environment);
  if (given.issuer === "") return { ...readConfig(settings, environment), team: undefined };
  // A proxy with TLS stands before it: it may listen wherever that reaches it.
  const host = text({ variable: "HLVM_HOST", description: "Address to listen on.", fallback: "127.0.0.1" });
  const team: TeamConfig = { ...given, publicUrl: publicUrlOf(publicUrl) };
  for (const [variable, value] of [
    ["HLVM_OIDC_CLIENT_ID", team.clientId],
    ["HLVM_OIDC_CLIENT_SECRET", team.clientSecret],
  ])
    if (value === "") throw invalid(`${variable} has to be set where HLVM_OIDC_ISSUER is.`);
  if (team.organization === "local") throw invalid("HLVM_ORGANIZATION cannot be local: that is what the user of local mode belongs to.");
  return { ...readConfig({ ...settings, host }, environment), team };
}

function publicUrlOf(value: string): URL {
  if (!URL.canParse(value)) throw invalid("HLVM_PUBLIC_URL has to be a URL where HLVM_OIDC_ISSUER is set.");
  const url = new URL(value);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    throw invalid(
      "HLVM_PUBLIC_URL must begin with https://, or be http on this machine: without TLS anybody on the way could log in as you.",
    );
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") throw invalid("HLVM_PUBLIC_URL must be without a path.");
  return url;
}

function invalid(message: string): HlvmError {
  return new HlvmError({ code: "failed_precondition", reason: "invalid_configuration", message, advice: "Set it and start again." });
}
