import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, connect, type Socket } from "node:net";
import { EventEmitter, once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { checkSchema } from "./check-schema.ts";
import { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { Notifications } from "./notifications.ts";

let migrations: string;
let test: TestDatabase;

beforeAll(async () => {
  migrations = mkdtempSync(join(tmpdir(), "hlvm-migrations-"));
  writeFileSync(join(migrations, "0001_note.sql"), "CREATE TABLE note (text text NOT NULL)");
  test = await createTestDatabase(migrations);
});

afterAll(async () => {
  await test.drop();
  rmSync(migrations, { recursive: true });
});

describe("Database", () => {
  it("rolls a transaction back when its work throws", async () => {
    const work = test.database.transaction(async (queries) => {
      await queries.query("INSERT INTO note VALUES ('lost')");
      throw new Error("changed my mind");
    });
    await expect(work).rejects.toThrow("changed my mind");
    expect(await test.database.query("SELECT text FROM note WHERE text = 'lost'")).toEqual([]);
  });

  it("says that the database cannot be reached, and what to do", async () => {
    const nowhere = new Database("postgresql://nobody:x@/nothing?host=/nonexistent", testLog);
    await expect(nowhere.query("SELECT 1")).rejects.toMatchObject({
      code: "unavailable",
      reason: "database_unreachable",
      advice: expect.stringContaining("hlvm status"),
    });
    await nowhere.close();
  });

  it("survives that a connection is ended by the server in mid-transaction", async () => {
    const work = test.database.transaction((queries) => queries.query("SELECT pg_terminate_backend(pg_backend_pid())"));
    await expect(work).rejects.toMatchObject({ reason: "database_unreachable" });
    expect(await test.database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

it("has a query wait for a connection while all are at work, for longer than it may take to connect", async () => {
  const busy = Array.from({ length: 10 }, () => test.database.query("SELECT pg_sleep(5.5)"));
  expect(await test.database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await Promise.all(busy);
}, 20_000);

describe("migrate", () => {
  it("applies what is new, once", async () => {
    writeFileSync(join(migrations, "0002_author.sql"), "ALTER TABLE note ADD COLUMN author text");
    expect(await migrate(test.database, migrations)).toEqual(["0002_author.sql"]);
    expect(await migrate(test.database, migrations)).toEqual([]);
  });

  it("leaves nothing of a migration that fails, and names it", async () => {
    writeFileSync(join(migrations, "0003_broken.sql"), "CREATE TABLE half (a int); SELECT nonsense");
    await expect(migrate(test.database, migrations)).rejects.toMatchObject({ message: expect.stringContaining("0003_broken.sql") });
    expect(await test.database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    rmSync(join(migrations, "0003_broken.sql"));
  });
});

describe("checkSchema", () => {
  it("is content where all was applied, and names what was not and who applies it", async () => {
    await checkSchema(test.database, migrations);
    writeFileSync(join(migrations, "0009_later.sql"), "SELECT 1");
    await expect(checkSchema(test.database, migrations)).rejects.toMatchObject({
      reason: "schema_outdated",
      message: "The database lacks 0009_later.sql.",
      advice: expect.stringContaining("the role that owns the database"),
    });
    rmSync(join(migrations, "0009_later.sql"));
  });

  it("says so of a database that was never migrated", async () => {
    const empty = await createTestDatabase(mkdtempSync(join(tmpdir(), "hlvm-migrations-")));
    await empty.database.query("DROP TABLE migration");
    await expect(checkSchema(empty.database, migrations)).rejects.toMatchObject({ reason: "schema_outdated" });
    await empty.drop();
  });
});

describe("Notifications", () => {
  it("delivers payloads, and comes back after its connection was cut", async () => {
    const notifications = await Notifications.open(test.url, "news", testLog);
    const seen = new EventEmitter();
    notifications.onPayload((payload) => seen.emit("payload", payload));
    notifications.onReconnect(() => seen.emit("reconnect"));

    const first = once(seen, "payload");
    await test.database.query("SELECT pg_notify('news', 'one')");
    expect(await first).toEqual(["one"]);

    const back = once(seen, "reconnect");
    await test.database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN news' AND datname = current_database()",
    );
    await back;
    const second = once(seen, "payload");
    await test.database.query("SELECT pg_notify('news', 'two')");
    expect(await second).toEqual(["two"]);
    await notifications.close();
  });

  it("leaves no connection when it is closed in the middle of coming back", async () => {
    const proxy = await openProxy(test.url);
    const notifications = await Notifications.open(proxy.url, "news", testLog);
    const held = proxy.holdNext();
    proxy.cut();
    await held;
    const closed = notifications.close();
    proxy.letThrough();
    await closed;
    await expect.poll(() => proxy.openConnections()).toBe(0);
    await proxy.close();
  });
});

/** A way to the same database on which a connection can be cut, or held up before anything goes through. */
async function openProxy(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-proxy-"));
  const server = new URL(url.replace("@/", "@local/")).searchParams.get("host")!;
  const sockets = new Set<Socket>();
  const events = new EventEmitter();
  let holding = false;
  const proxy = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
    const through = (): void => {
      const inner = connect(join(server, ".s.PGSQL.5432")).on("error", () => undefined);
      socket.pipe(inner).pipe(socket);
      socket.on("close", () => inner.destroy());
    };
    if (!holding) return through();
    events.once("let through", through);
    events.emit("held");
  }).listen(join(folder, ".s.PGSQL.5432"));
  await once(proxy, "listening");
  return {
    url: url.replace(encodeURIComponent(server), encodeURIComponent(folder)),
    holdNext: () => {
      holding = true;
      return once(events, "held");
    },
    cut: () => sockets.forEach((socket) => socket.destroy()),
    letThrough: () => void events.emit("let through"),
    openConnections: () => sockets.size,
    close: async () => {
      proxy.close();
      await once(proxy, "close");
      rmSync(folder, { recursive: true });
    },
  };
}
