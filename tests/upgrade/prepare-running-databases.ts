import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepHlvmFiles, keepSecrets } from "@hlvm/service-supervisor/src/adapters/hlvm-files.ts";
import { prepareDatabases } from "@hlvm/service-supervisor/src/adapters/prepare-databases.ts";
import { databaseName, serviceDatabases, WITH_DATABASE } from "@hlvm/service-supervisor/src/service-databases.ts";
import { testLog } from "@hlvm/testing/test-log";

/**
 * What the supervisor of this version does with the databases before it starts its services, while those of the version before
 * use them: policy must not change its own schema.
 * @param directory the HLVM directory of the mesh
 */
export async function prepareRunningDatabases(directory: string): Promise<void> {
  const notice = (line: string): void => {
    throw new Error(`The version before has kept its files otherwise: ${line}`);
  };
  const files = keepHlvmFiles(directory, notice);
  const { databasePasswords } = await keepSecrets(files, WITH_DATABASE.map(databaseName), notice);
  const password = readFileSync(join(files.data("postgres"), "superuser-password"), "utf8");
  const url = (database: string): string =>
    `postgresql://postgres:${password}@/${database}?host=${encodeURIComponent(files.sockets)}&port=5432`;
  await prepareDatabases(url, serviceDatabases(databasePasswords), testLog);
}
