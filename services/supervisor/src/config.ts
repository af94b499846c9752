import { choice, integer, text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import type { LogLevel } from "@hlvm/log/create-log";
import { hlvmDirectory } from "@hlvm/mesh/hlvm-directory";
import { LIFETIMES, type Lifetime } from "@hlvm/mesh/lifetime";

/** The port that people know. A mesh that lives only while it is used is found through its state file, on any free port. */
const EDGE_PORTS: Readonly<Record<Lifetime, number>> = { foreground: 11_435, "while-referenced": 0 };

const lifetimeSetting = choice<Lifetime>({
  variable: "HLVM_LIFETIME",
  description: "How long the mesh lives.",
  fallback: "foreground",
  choices: LIFETIMES,
});

/** Every setting of the supervisor, besides HLVM_DIR; the others in the environment are handed on to the services. */
const settings = (lifetime: Lifetime) => ({
  edgePort: integer({
    variable: "HLVM_PORT",
    description: "Port of the edge; 0 takes any free one.",
    fallback: EDGE_PORTS[lifetime],
    minimum: 0,
    maximum: 65_535,
  }),
  edgeHost: {
    ...text({ variable: "HLVM_HOST", description: "Loopback address of the edge.", fallback: "127.0.0.1" }),
    parse: withoutBrackets,
  },
  replicas: integer({
    variable: "HLVM_REPLICAS",
    description: "Processes of each service that can have several, to try how they work together.",
    fallback: 1,
    minimum: 1,
    maximum: 8,
  }),
  team: choice<"no" | "demo">({
    variable: "HLVM_TEAM",
    description: "demo: a company on this machine, with an identity provider in which everybody can be anybody.",
    fallback: "no",
    choices: ["no", "demo"],
  }),
  logLevel: choice<LogLevel>({
    variable: "HLVM_LOG_LEVEL",
    description: "The least that is logged.",
    fallback: "info",
    choices: ["debug", "info", "warn", "error"],
  }),
});

export interface SupervisorConfig {
  readonly directory: string;
  readonly lifetime: Lifetime;
  readonly edgePort: number;
  readonly edgeHost: string;
  readonly replicas: number;
  readonly team: "no" | "demo";
  readonly logLevel: LogLevel;
  /** What it was started with: a source of settings for the services. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function readSupervisorConfig(environment: NodeJS.ProcessEnv): SupervisorConfig {
  const { lifetime } = readConfig({ lifetime: lifetimeSetting }, environment);
  return { ...readConfig(settings(lifetime), environment), lifetime, directory: hlvmDirectory(environment), environment };
}

/** As a URL has an IPv6 address, and an address is not written elsewhere. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.+)\]$/, "$1");
}
