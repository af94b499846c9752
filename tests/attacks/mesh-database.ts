import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { TestMesh } from "../e2e/test-mesh.ts";

/** Whatever has a mesh. */
interface HasMesh {
  readonly mesh: TestMesh;
}

const PORT = 5432;
const DEADLINE_MILLISECONDS = 5_000;

/** Connects to the mesh's PostgreSQL on its Unix socket. */
export async function connectDatabase(mesh: HasMesh, database: string, user: string, password: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: socketFolder(mesh),
    port: PORT,
    database,
    user,
    password,
    connectionTimeoutMillis: DEADLINE_MILLISECONDS,
    query_timeout: DEADLINE_MILLISECONDS,
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** The roles that services log in with, as their password files name them: what a thief of one service has. */
export function serviceRoles(mesh: HasMesh): { readonly name: string; readonly password: string }[] {
  const keys = join(mesh.mesh.directory, "keys");
  return readdirSync(keys)
    .filter((name) => name.endsWith("-password"))
    .map((name) => ({ name: name.slice(0, -"-password".length), password: readFileSync(join(keys, name), "utf8").trim() }));
}

export function connectAsSuperuser(mesh: HasMesh, database: string): Promise<pg.Client> {
  const password = readFileSync(join(mesh.mesh.directory, "data", "postgres", "superuser-password"), "utf8").trim();
  return connectDatabase(mesh, database, "postgres", password);
}

/** The databases of the mesh, without PostgreSQL's own. */
export async function databasesOf(mesh: HasMesh): Promise<string[]> {
  const client = await connectAsSuperuser(mesh, "postgres");
  try {
    const { rows } = await client.query<{ name: string }>("SELECT datname AS name FROM pg_database WHERE datname LIKE 'hlvm%'");
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The first line of the server's own status file that names its socket folder. */
function socketFolder(mesh: HasMesh): string {
  const status = join(mesh.mesh.directory, "data", "postgres", "data", "postmaster.pid");
  if (!existsSync(status)) throw new Error("PostgreSQL is not up");
  return readFileSync(status, "utf8").split("\n")[4]!.trim();
}
