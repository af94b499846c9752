import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { restoreBackup } from "@hlvm/backup/restore-backup";
import { startPostgres, type RunningPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { backUpMesh, majorVersion } from "./back-up-mesh.ts";
import { keepHlvmFiles, type HlvmFiles } from "./hlvm-files.ts";

let place: string;
let files: HlvmFiles;
let running: RunningPostgres[];

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "hlvm-back-up-"));
  files = keepHlvmFiles(join(place, "hlvm"), () => undefined);
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((postgres) => postgres.stop()));
  rmSync(place, { recursive: true, force: true });
});

const placeOf = ({ data, sockets, logFile }: HlvmFiles) => ({
  directory: data("postgres"),
  socketDirectory: sockets,
  logFile: logFile("postgres"),
});

async function start(of: HlvmFiles): Promise<pg.Client> {
  const postgres = await startPostgres({ ...placeOf(of), durable: false });
  running.push(postgres);
  const client = new pg.Client({ connectionString: postgres.url("postgres") });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

describe("backUpMesh", () => {
  it("takes every database as it was at one moment, while it is written to, with keys and what sandboxes keep", async () => {
    const client = await start(files);
    await client.query("CREATE TABLE one (n int PRIMARY KEY, text text); CREATE TABLE two (n int PRIMARY KEY)");
    mkdirSync(files.data("sandbox"));
    writeFileSync(join(files.data("sandbox"), "checkpoint"), "kept");
    writeFileSync(join(files.keys, "edge.jwk"), "a key");
    writeFileSync(files.tokenFile, "a token");
    let written = 0;
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) {
        const text = "x".repeat(2_000);
        await client.query("WITH first AS (INSERT INTO one VALUES ($1, $2)) INSERT INTO two VALUES ($1)", [written + 1, text]);
        written++;
      }
    })();
    await expect.poll(() => written).toBeGreaterThan(100);
    const before = written;
    const folder = join(place, "backup");
    const summary = await backUpMesh(folder, files, placeOf(files));
    const after = written;
    over.abort();
    await writing;
    expect(after).toBeGreaterThan(before);
    expect(summary).toMatchObject({ folder });

    const directory = join(place, "restored");
    await restoreBackup({ folder, directory, postgres: majorVersion(placeOf(files)), replaces: false });
    const restored = keepHlvmFiles(directory, () => undefined);
    const other = await start(restored);
    const { rows } = await other.query<{ one: number; two: number; last: number }>(
      "SELECT (SELECT count(*)::int FROM one) AS one, (SELECT count(*)::int FROM two) AS two, (SELECT max(n) FROM one) AS last",
    );
    expect(rows[0]!.one).toBeGreaterThanOrEqual(before);
    expect(rows[0]!.one).toBeLessThanOrEqual(after + 1);
    expect([rows[0]!.two, rows[0]!.last]).toEqual([rows[0]!.one, rows[0]!.one]);
    await other.query("INSERT INTO one VALUES (-1, 'it can be written to')");
    await Promise.all([client.end(), other.end()]);
  });

  it("refuses a second one at once and a folder that is there, and leaves nothing behind in the server", async () => {
    const client = await start(files);
    const results = await Promise.allSettled([1, 2].map((number) => backUpMesh(join(place, `b${number}`), files, placeOf(files))));
    const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(failed).toEqual([expect.objectContaining({ reason: "backup_running" })]);
    await expect(backUpMesh(place, files, placeOf(files))).rejects.toMatchObject({ reason: "backup_folder_taken" });
    await expect.poll(async () => (await client.query("SELECT 1 FROM pg_replication_slots")).rowCount).toBe(0);
    await client.end();
  });
});
