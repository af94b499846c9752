import { integer, text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { hlvmDirectory } from "@hlvm/mesh/hlvm-directory";

/** Every variable that the command reads, besides those that it hands on to a mesh that it starts. */
export const settings = {
  edgeUrl: text({ variable: "HLVM_EDGE_URL", description: "the edge to call instead of the mesh of this machine", fallback: "" }),
  token: text({ variable: "HLVM_TOKEN", description: "the token for HLVM_EDGE_URL", fallback: "" }),
  profile: text({
    variable: "HLVM_PROFILE",
    description: "which login to use, of `hlvm profile list`; local: this machine's mesh",
    fallback: "",
  }),
  bubblewrap: text({ variable: "HLVM_BWRAP", description: "bwrap to isolate with, instead of the one on the PATH", fallback: "" }),
  model: text({ variable: "HLVM_MODEL", description: "provider/name, auto or route/NAME, where --model is not given", fallback: "" }),
  reconnectSeconds: integer({
    variable: "HLVM_RECONNECT_SECONDS",
    description: "how long a lost connection to a run is resumed, in seconds",
    fallback: 60,
    minimum: 1,
    maximum: 86_400,
  }),
  npmScript: text({ variable: "npm_lifecycle_event", description: "the npm script that runs this command, set by npm", fallback: "" }),
  editor: text({ variable: "EDITOR", description: "the editor in which a plan is changed", fallback: "vi" }),
  terminal: text({ variable: "TERM", description: "what the terminal understands; dumb: no line to type in below a run", fallback: "" }),
  claudeDirectory: text({ variable: "CLAUDE_CONFIG_DIR", description: "where Claude Code keeps its settings, set for it", fallback: "" }),
  codexDirectory: text({ variable: "CODEX_HOME", description: "where Codex keeps its settings, set for it", fallback: "" }),
  noColor: text({ variable: "NO_COLOR", description: "any value: no colour", fallback: "" }),
};

/** What moves the folders in which other agents keep their sessions. */
const TRANSCRIPT_VARIABLES = [
  "APPDATA",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "HERMES_HOME",
  "PI_CODING_AGENT_DIR",
  "PI_CODING_AGENT_SESSION_DIR",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
];

export interface CliConfig extends ReturnType<typeof readConfig<typeof settings>> {
  /** HLVM_DIR, else `~/.hlvm`. */
  readonly directory: string;
  /** By the names of the variables that are set. */
  readonly transcriptFolders: Readonly<Record<string, string>>;
}

export function readCliConfig(environment: NodeJS.ProcessEnv): CliConfig {
  const set = TRANSCRIPT_VARIABLES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []));
  const transcriptFolders = Object.fromEntries(set) as Record<string, string>;
  return { ...readConfig(settings, environment), directory: hlvmDirectory(environment), transcriptFolders };
}
