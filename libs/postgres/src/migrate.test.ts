import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
