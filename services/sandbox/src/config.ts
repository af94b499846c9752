import { httpUrl } from "@hlvm/config/http-url";
import { choice, integer, list, text } from "@hlvm/config/setting";
import { serviceSettings } from "@hlvm/config/service-settings";

/** The environment variables of the sandbox. */
export const settings = {
  ...serviceSettings,
  grantPublicKeys: text({ variable: "HLVM_GRANT_PUBLIC_KEYS", description: "Path of the JWK set that grants are checked with." }),
  databaseUrl: text({
    variable: "HLVM_DATABASE_URL",
    description: "The service's own PostgreSQL database: which replica holds which session.",
  }),
  replicaName: {
    ...text({
      variable: "HLVM_REPLICA_NAME",
      description: "Tells the replicas of this service apart, and stays the same when one is started again.",
      fallback: "sandbox",
    }),
    parse: replicaName,
  },
  replicaAddress: {
    ...text({
      variable: "HLVM_REPLICA_ADDRESS",
      description: "The URL under which the other services reach exactly this replica; http://HLVM_HOST:HLVM_PORT where it is not set.",
      fallback: "",
    }),
    parse: httpUrl,
  },
  stateDirectory: text({
    variable: "HLVM_SANDBOX_STATE_DIRECTORY",
    description: "The folder where receipts are kept. The replicas of one machine share it.",
  }),
  directory: text({
    variable: "HLVM_DIR",
    description: "HLVM's own folder on this machine, where there is one: nothing in it becomes a workspace.",
    fallback: "",
  }),
  socketDirectory: text({
    variable: "HLVM_SOCKET_DIR",
    description: "The folder of HLVM's Unix sockets on this machine, where there is one: no workspace holds it.",
    fallback: "",
  }),
  bubblewrap: text({ variable: "HLVM_BWRAP", description: "Path of bwrap, or its name on PATH.", fallback: "bwrap" }),
  limits: choice({
    variable: "HLVM_SANDBOX_LIMITS",
    description: "The weakest limits to accept: `cgroup` counts processes and memory of a whole sandbox, `rlimit` each process by itself.",
    fallback: "rlimit",
    choices: ["rlimit", "cgroup"],
  }),
  processes: integer({
    variable: "HLVM_SANDBOX_PROCESSES",
    description: "Processes and threads that one sandbox may have.",
    fallback: 512,
    minimum: 32,
    maximum: 1_000_000,
  }),
  memoryMebibytes: integer({
    variable: "HLVM_SANDBOX_MEMORY_MEBIBYTES",
    description: "Memory that one sandbox may use, in MiB.",
    fallback: 2_048,
    minimum: 128,
    maximum: 1_048_576,
  }),
  temporaryMebibytes: integer({
    variable: "HLVM_SANDBOX_TEMPORARY_MEBIBYTES",
    description: "Size of a sandbox's /tmp, which lies in its memory, in MiB.",
    fallback: 512,
    minimum: 1,
    maximum: 1_048_576,
  }),
  fileMebibytes: integer({
    variable: "HLVM_SANDBOX_FILE_MEBIBYTES",
    description: "Size of the largest file that a process in a sandbox can write, in MiB.",
    fallback: 2_048,
    minimum: 1,
    maximum: 1_048_576,
  }),
  sandboxes: integer({
    variable: "HLVM_SANDBOX_SESSIONS",
    description: "Sessions whose sandboxes may be up at the same time; calls of others wait. 0: as many as memory and processors hold.",
    fallback: 0,
    minimum: 0,
    maximum: 10_000,
  }),
  replicasOnMachine: integer({
    variable: "HLVM_SANDBOX_REPLICAS_ON_MACHINE",
    description: "Replicas of this service on the same machine: the number of sessions that is found for it is divided by them.",
    fallback: 1,
    minimum: 1,
    maximum: 100,
  }),
  workspaceMebibytes: integer({
    variable: "HLVM_SANDBOX_WORKSPACE_MEBIBYTES",
    description: "The most that a workspace which is cloned or sent may hold, packed and unpacked, in MiB.",
    fallback: 1_024,
    minimum: 1,
    maximum: 1_048_576,
  }),
  workspaceDays: integer({
    variable: "HLVM_SANDBOX_WORKSPACE_DAYS",
    description: "A workspace that was cloned or sent is removed when no run has begun in it for so many days.",
    fallback: 14,
    minimum: 1,
    maximum: 3_650,
  }),
  gitPrivateHosts: list({
    variable: "HLVM_SANDBOX_GIT_PRIVATE_HOSTS",
    description: "Hosts of the operator's own network that repositories may be cloned from, separated by commas.",
    fallback: [],
  }),
  gitFolders: list({
    variable: "HLVM_SANDBOX_GIT_FOLDERS",
    description: "Folders of this machine whose repositories anybody may clone by file://, separated by commas.",
    fallback: [],
  }),
  images: text({
    variable: "HLVM_SANDBOX_IMAGES",
    description: "The folder of unpacked images that sessions may run their commands in; docs/images.md says how they get there.",
    fallback: "",
  }),
  idleSeconds: integer({
    variable: "HLVM_SANDBOX_IDLE_SECONDS",
    description: "A session without a call for this long has its sandboxes stopped; its files stay. In seconds.",
    fallback: 60,
    minimum: 1,
    maximum: 86_400,
  }),
};

/** A folder is named after it. */
function replicaName(value: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) return value;
  throw new Error(`must be 1 to 63 lower-case letters, digits and hyphens, not "${value}"`);
}
