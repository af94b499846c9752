import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { testLog } from "@hlvm/testing/test-log";
import { prepareDatabases, type ServiceDatabase } from "./prepare-databases.ts";

const suffix = randomBytes(4).toString("hex");
const viewer = `test_viewer_${suffix}`;
const first: ServiceDatabase = { name: `test_first_${suffix}`, password: "one", mayBecome: [viewer] };
const second: ServiceDatabase = { name: `test_second_${suffix}`, password: "two", mayBecome: [] };
const superuserUrl = inject("postgresUrl");

const urlOf = (database: string): string => superuserUrl.replace("@/postgres?", `@/${database}?`);

beforeAll(() => prepareDatabases(urlOf, [first, second], testLog));

afterAll(async () => {
  for (const { name } of [first, second]) {
    await statement(superuserUrl, `DROP DATABASE ${name}`);
    await statement(superuserUrl, `DROP ROLE ${name}`);
  }
  await statement(superuserUrl, `DROP ROLE ${viewer}`);
});

async function statement(url: string, ...sql: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of sql.slice(0, -1)) await client.query(text);
    return (await client.query(sql.at(-1)!)).rows;
  } finally {
    await client.end();
  }
}

function urlAs({ name, password }: Pick<ServiceDatabase, "name" | "password">, database: string): string {
  return superuserUrl.replace(/\/\/[^@]*@\/[^?]*/, `//${name}:${password}@/${database}`);
}

describe("the databases", () => {
  it("are one for each role, which owns it", async () => {
    await statement(urlAs(first, first.name), "CREATE TABLE note (text text)", "INSERT INTO note VALUES ('mine')");
    expect(await statement(urlAs(first, first.name), "SELECT text FROM note")).toEqual([{ text: "mine" }]);
  });

  it("are closed to every other role, PostgreSQL's own one too", async () => {
    for (const database of [second.name, "postgres", "template1"])
      await expect(statement(urlAs(first, database), "SELECT 1")).rejects.toThrow(/permission denied for database/);
  });

  it("let a role take on its lesser ones, and make no others", async () => {
    expect(await statement(urlAs(first, first.name), `SET ROLE ${viewer}`, "SELECT current_user AS me")).toEqual([{ me: viewer }]);
    await expect(statement(urlAs(second, second.name), `SET ROLE ${viewer}`)).rejects.toThrow(/permission denied/);
    await expect(statement(urlAs(first, first.name), "CREATE ROLE another")).rejects.toThrow(/permission denied/);
  });

  it("stay when they are prepared again, and take a new password", async () => {
    await prepareDatabases(urlOf, [{ ...first, password: "three" }, second], testLog);
    expect(await statement(urlAs({ ...first, password: "three" }, first.name), "SELECT text FROM note")).toEqual([{ text: "mine" }]);
    await expect(statement(urlAs(first, first.name), "SELECT 1")).rejects.toThrow(/password authentication failed/);
  });
});
