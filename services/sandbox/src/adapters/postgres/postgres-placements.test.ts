import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { LEASE_MILLISECONDS, LONE_LEASE_MILLISECONDS } from "../../domain/placement/replica-lease.ts";
import { PostgresPlacements } from "./postgres-placements.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
});
afterAll(() => test.drop());

const replica = (name: string) => new PostgresPlacements(test.database, { name, volume: randomUUID() });

async function heldFor(name: string): Promise<number> {
  const sql = "SELECT (extract(epoch FROM lease_until - now()) * 1000)::float AS held FROM replica WHERE name = $1";
  return (await test.database.query<{ held: number }>(sql, [name]))[0]!.held;
}

it("does not end a lone replica's lease before that replica has heard that others have come", async () => {
  const [one, other] = [replica("one"), replica("other")];
  expect(await one.register("http://one")).toBe(LONE_LEASE_MILLISECONDS);
  expect(await other.register("http://other")).toBe(LEASE_MILLISECONDS);
  // This answer may be lost.
  expect(await one.renew(false)).toBe(LEASE_MILLISECONDS);
  expect(await heldFor("one")).toBeGreaterThan(LONE_LEASE_MILLISECONDS / 2);
  expect(await one.renew(true)).toBe(LEASE_MILLISECONDS);
  expect(await heldFor("one")).toBeLessThanOrEqual(LEASE_MILLISECONDS);
});

it("does not give a lease back to a replica that has released it, where a renewal was still under way", async () => {
  const ended = replica("ended");
  await ended.register("http://ended");
  await ended.release();
  expect(await ended.renew(false)).toBeUndefined();
  expect(await heldFor("ended")).toBeLessThanOrEqual(0);
  expect(await replica("ended").register("http://again")).toBeGreaterThan(0);
  expect(await heldFor("ended")).toBeGreaterThan(0);
});
