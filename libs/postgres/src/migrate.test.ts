import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { Database } from "./database.ts";
import { migrate } from "./migrate.ts";

const ROUNDS = 10;
const REPLICAS = 6;
const NAMES = ["0001_note.sql", "0002_filled.sql"];

let migrations: string;
let test: TestDatabase;

beforeAll(async () => {
  migrations = mkdtempSync(join(tmpdir(), "hlvm-migrate-"));
  test = await createTestDatabase(migrations);
  writeFileSync(join(migrations, NAMES[0]!), "CREATE TABLE note (text text NOT NULL)");
  writeFileSync(join(migrations, NAMES[1]!), "INSERT INTO note VALUES ('once')");
});

afterAll(async () => {
  await test.drop();
  rmSync(migrations, { recursive: true });
});

it("lets others write while it waits for a reader, and is applied when that has ended", async () => {
  const [reader, migrating] = [new Database(test.url, testLog), new Database(test.url, testLog)];
  const folder = mkdtempSync(join(tmpdir(), "hlvm-migrate-"));
  const ended = Promise.withResolvers<void>();
  try {
    await test.database.query("CREATE TABLE book (title text NOT NULL)");
    writeFileSync(join(folder, "0003_pages.sql"), "ALTER TABLE book ADD COLUMN pages integer");
    const isReading = Promise.withResolvers<void>();
    const reading = reader.transaction(async (queries) => {
      await queries.query("SELECT FROM book");
      isReading.resolve();
      await ended.promise;
    });
    await isReading.promise;
    const migrated = migrate(migrating, folder);
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'book'::regclass";
    await expect.poll(() => test.database.query(waiting), { interval: 20 }).toHaveLength(1);
    // A lock that is waited for keeps everybody back who comes later.
    await test.database.query("INSERT INTO book VALUES ('Emma')");
    ended.resolve();
    await reading;
    expect(await migrated).toEqual(["0003_pages.sql"]);
    expect(await test.database.query("SELECT title, pages FROM book")).toEqual([{ title: "Emma", pages: null }]);
  } finally {
    ended.resolve();
    await Promise.all([reader.close(), migrating.close()]);
    rmSync(folder, { recursive: true });
  }
});

it("applies each migration once where replicas start together on an empty database", async () => {
  const replicas = Array.from({ length: REPLICAS }, () => new Database(test.url, testLog));
  await Promise.all(replicas.map((replica) => replica.query("SELECT 1")));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await test.database.query("DROP TABLE IF EXISTS migration, note");
      const applied = await Promise.all(replicas.map((replica) => migrate(replica, migrations)));
      expect(applied.flat().toSorted()).toEqual(NAMES);
      expect(await test.database.query("SELECT text FROM note")).toEqual([{ text: "once" }]);
    }
  } finally {
    await Promise.all(replicas.map((replica) => replica.close()));
  }
});

it("connects again where the first connection is answered too late, as by a server that many wait for", async () => {
  const [, before, folderOfSocket, port] = /^(.*\?host=)([^&]+)&port=(\d+)$/.exec(test.url)!;
  const place = mkdtempSync(join(tmpdir(), "hlvm-late-"));
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    if (sockets.length > 1)
      socket.pipe(connect(join(decodeURIComponent(folderOfSocket!), `.s.PGSQL.${port}`)).on("error", () => socket.destroy())).pipe(socket);
  }).listen(join(place, `.s.PGSQL.${port}`));
  await once(server, "listening");
  const late = new Database(`${before}${encodeURIComponent(place)}&port=${port}`, testLog);
  const folder = mkdtempSync(join(tmpdir(), "hlvm-migrate-"));
  try {
    writeFileSync(join(folder, "0004_late.sql"), "CREATE TABLE late (text text NOT NULL)");
    expect(await migrate(late, folder)).toEqual(["0004_late.sql"]);
    expect(sockets.length).toBeGreaterThan(1);
  } finally {
    await late.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    for (const each of [folder, place]) rmSync(each, { recursive: true });
  }
});
