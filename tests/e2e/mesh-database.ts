import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Database } from "@hlvm/postgres/database";
import { testLog } from "@hlvm/testing/test-log";
import type { TestMesh } from "./test-mesh.ts";

/** Looks into the orchestrator's database, for what no client is shown. */
export async function withMeshDatabase<T>(mesh: TestMesh, use: (database: Database) => Promise<T>): Promise<T> {
  const password = readFileSync(join(mesh.directory, "data", "postgres", "superuser-password"), "utf8");
  const host = encodeURIComponent(dirname(mesh.state.controlSocket));
  const database = new Database(`postgresql://postgres:${password}@/hlvm_orchestrator?host=${host}&port=5432`, testLog);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
