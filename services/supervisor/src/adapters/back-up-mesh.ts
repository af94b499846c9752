import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { BackupWriter } from "@hlvm/backup/backup-writer";
import { superuserUrl } from "@hlvm/embedded-postgres/superuser-url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { BackupSummary } from "@hlvm/mesh/back-up";
import type { HlvmFiles } from "./hlvm-files.ts";
import type { PostgresPlace } from "./postgres-process.ts";

const LABEL = "hlvm backup";
const SLOT = "hlvm_backup";
const STATEMENT_MILLISECONDS = 120_000;
/** What PostgreSQL makes anew when it starts; of its log what belongs to the backup is copied by name. */
const MADE_ANEW =
  /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|^postmaster\.(?:pid|opts)$|(?:^|\/)(?:pgsql_tmp|pg_internal\.init)/;
const LOG_SEGMENT = /^[0-9A-F]{24}$/;

interface Stopped {
  readonly label: string;
  readonly spaces: string;
  readonly last: string;
}

/**
 * Writes all that this mesh is into a folder, while it runs: every database as it was at one moment, keys, and what sandboxes keep. What can
 * be made again, the search index and logs for people, is left out.
 * @throws HlvmError `backup_folder_taken`, `backup_not_written`, `backup_running`
 */
export async function backUpMesh(folder: string, files: HlvmFiles, place: PostgresPlace): Promise<BackupSummary> {
  const client = new pg.Client({ connectionString: superuserUrl(place, "postgres"), statement_timeout: STATEMENT_MILLISECONDS });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await holdLog(client);
    const writer = await BackupWriter.create(folder);
    await writer.copy(join(files.directory, "data"), "data", () => true);
    await copyPostgres(client, place, writer);
    // After the databases: what these name is there.
    await writer.copy(files.data("sandbox"), "data/sandbox");
    await writer.copy(files.keys, "keys");
    await writer.copy(files.tokenFile, "token");
    return { folder, ...(await writer.finish(majorVersion(place))) };
  } finally {
    // With the connection goes the backup mode, if it is still on, and the slot.
    await client.end();
  }
}

/** Of the PostgreSQL whose data lie there. */
export function majorVersion({ directory }: Pick<PostgresPlace, "directory">): string {
  return readFileSync(join(directory, "data", "PG_VERSION"), "utf8").trim();
}

/** Until the connection ends no part of the write-ahead log goes that the backup needs. */
async function holdLog(client: pg.Client): Promise<void> {
  try {
    await client.query("SELECT pg_create_physical_replication_slot($1, true, true)", [SLOT]);
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== "42710") throw cause;
    throw new HlvmError({
      code: "already_exists",
      reason: "backup_running",
      message: "A backup of this mesh is being written already.",
      advice: "Wait for it, and try again.",
      cause,
    });
  }
}

async function copyPostgres(client: pg.Client, { directory }: PostgresPlace, writer: BackupWriter): Promise<void> {
  const { rows } = await client.query<{ first: string }>("SELECT pg_walfile_name(pg_backup_start($1, true)) AS first", [LABEL]);
  await writer.copy(directory, "data/postgres", (path) => MADE_ANEW.test(path.replace(/^data\//, "")));
  const { label, spaces, last } = await stopBackup(client);
  await writer.write("data/postgres/data/backup_label", Buffer.from(label));
  if (spaces !== "") await writer.write("data/postgres/data/tablespace_map", Buffer.from(spaces));
  const log = join(directory, "data", "pg_wal");
  for (const segment of await readdir(log))
    if (LOG_SEGMENT.test(segment) && segment >= rows[0]!.first && segment <= last)
      await writer.copy(join(log, segment), `data/postgres/data/pg_wal/${segment}`);
}

async function stopBackup(client: pg.Client): Promise<Stopped> {
  const { rows } = await client.query<Stopped>(
    "SELECT labelfile AS label, coalesce(spcmapfile, '') AS spaces, pg_walfile_name(lsn) AS last FROM pg_backup_stop(true)",
  );
  return rows[0]!;
}
