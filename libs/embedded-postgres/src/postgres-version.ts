import { spawnSync } from "node:child_process";
import { postgresCommand } from "./postgres-command.ts";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** The major version of the PostgreSQL that would be started, such as "18". @throws HlvmError `postgres_failed` */
export function postgresVersion(): string {
  const [command, commandArguments] = postgresCommand("postgres", ["--version"]);
  const { stdout, error } = spawnSync(command, commandArguments, { encoding: "utf8" });
  const [, version] = / (\d+)[.\d]*/.exec(stdout ?? "") ?? [];
  if (version !== undefined) return version;
  throw new HlvmError({
    code: "unavailable",
    reason: "postgres_failed",
    message: "PostgreSQL does not say which version it is.",
    advice: "`hlvm doctor` tells what is missing.",
    cause: error,
  });
}
