import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { Database } from "./database.ts";

let migrations: string;
let test: TestDatabase;

beforeAll(async () => {
  migrations = mkdtempSync(join(tmpdir(), "hlvm-migrations-"));
  test = await createTestDatabase(migrations);
  await test.database.query(`
    CREATE FUNCTION fail(state text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'it fails' USING ERRCODE = state;
    END
    $$`);
});

afterAll(async () => {
  await test.drop();
  rmSync(migrations, { recursive: true });
});

describe("what PostgreSQL says when it cannot serve", () => {
  it.each([
    ["53100", "resource_exhausted", "database_disk_full", "hlvm doctor"],
    ["53200", "resource_exhausted", "database_out_of_memory", "memory"],
    ["53300", "unavailable", "database_overloaded", "max_connections"],
    ["57P03", "unavailable", "database_unreachable", "hlvm status"],
    ["08006", "unavailable", "database_unreachable", "hlvm status"],
    ["08P01", "unavailable", "database_unreachable", "hlvm status"],
  ])("%s is %s, with advice", async (state, code, reason, advice) => {
    const failing = test.database.query("SELECT fail($1)", [state]);
    await expect(failing).rejects.toMatchObject({ code, reason, advice: expect.stringContaining(advice), cause: { code: state } });
  });

  it.each(["22012", "23505", "57014"])("%s is the statement's own, and stays as it is", async (state) => {
    const failing = test.database.query("SELECT fail($1)", [state]);
    await expect(failing).rejects.toMatchObject({ code: state, message: "it fails" });
  });

  it("is told of a disk that is full, loses nothing that was there, and goes on when there is space again", async (context) => {
    const disk = mkdtempSync(join(tmpdir(), "hlvm-disk-"));
    const [server] = await test.database.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const user = execFileSync("stat", ["-c", "%U", `/proc/${server!.pid}`], { encoding: "utf8" }).trim();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=2m,uid=${user},mode=0700`, "tmpfs", disk], { stdio: "ignore" });
    } catch {
      rmSync(disk, { recursive: true });
      context.skip("a small disk can only be mounted by root");
    }
    try {
      await test.database.query(`CREATE TABLESPACE small_disk LOCATION '${disk}'`);
      await test.database.query("CREATE TABLE note (id integer, text text) TABLESPACE small_disk");
      await test.database.query("ALTER TABLE note ALTER COLUMN text SET STORAGE EXTERNAL");
      const write = (count: number) =>
        test.database.query("INSERT INTO note SELECT i, repeat('x', 20000) FROM generate_series(1, $1) i", [count]);
      await write(10);
      await expect(write(200)).rejects.toMatchObject({ code: "resource_exhausted", reason: "database_disk_full" });
      expect(await test.database.query("SELECT count(*)::integer AS count FROM note")).toEqual([{ count: 10 }]);
      execFileSync("mount", ["-o", "remount,size=16m", disk]);
      await write(200);
      expect(await test.database.query("SELECT count(*)::integer AS count FROM note")).toEqual([{ count: 210 }]);
    } finally {
      await test.database.query("DROP TABLE IF EXISTS note");
      await test.database.query("DROP TABLESPACE IF EXISTS small_disk");
      execFileSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true });
    }
  });

  it("is told that too many are connected", async () => {
    const role = `few_${process.pid}`;
    await test.database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}' CONNECTION LIMIT 0`);
    try {
      const crowded = new Database(test.url.replace(/\/\/[^@]*@/, `//${role}:${role}@`), testLog);
      await expect(crowded.query("SELECT 1")).rejects.toMatchObject({ code: "unavailable", reason: "database_overloaded" });
      await crowded.close();
    } finally {
      await test.database.query(`DROP ROLE ${role}`);
    }
  });
});
