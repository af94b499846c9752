import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Database, type Row } from "@hlvm/postgres/database";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import type { AuditFilter } from "../../domain/audit/audit-log.ts";
import { PostgresAuditLog } from "./postgres-audit-log.ts";
import { PostgresAuditReports } from "./postgres-audit-reports.ts";

/** 40,000 events of thirty days, few of which are what is looked for. */
const LOAD = `
  INSERT INTO audit_event (organization, at, kind, principal, session_id, run_id, call_id, tool, decision, step, payload)
  SELECT 'local', now() - make_interval(secs => 60 * (40000 - number)), kind, 'user:' || number % 50, md5((number % 500)::text)::uuid,
    md5((number % 5000)::text)::uuid, 'call' || number / 2, 'shell_exec', CASE WHEN number % 1000 = 0 THEN 'deny' ELSE 'allow' END, 'mode',
    json_build_object('kind', kind, 'safetyLevel', CASE WHEN number % 1000 = 2 THEN 'L2' ELSE 'L0' END,
      'outcome', CASE WHEN number % 1000 = 1 THEN 'failed' ELSE 'succeeded' END, 'arguments', '{"command":"' || repeat('x', 200) || '"}')::text
  FROM (SELECT number, (ARRAY['intent', 'outcome'])[number % 2 + 1] AS kind FROM generate_series(1, 40000) AS number) AS numbered`;

/** Runs nothing: keeps by which indexes PostgreSQL would. */
class ExplainingDatabase extends Database {
  indexes: string[] = [];

  override async query<T extends Row>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    const plan = JSON.stringify(await super.query(`EXPLAIN (FORMAT JSON) ${sql}`, values));
    this.indexes = [...plan.matchAll(/"Node Type":"([^"]+)"(?:(?!"Node Type").)*?"Index Name":"([^"]+)"/g)].map(
      ([, node, name]) => `${node}: ${name}`,
    );
    return [];
  }
}

let database: TestDatabase;
let explaining: ExplainingDatabase;
beforeAll(async () => {
  database = await createTestDatabase(join(import.meta.dirname, "../../../migrations"));
  await database.database.query(LOAD);
  await database.database.query("VACUUM ANALYZE audit_event");
  explaining = new ExplainingDatabase(database.url, testLog);
});
afterAll(async () => {
  await explaining.close();
  await database.drop();
});

const reading = { kind: "audit_read", at: new Date().toISOString(), organization: "local", principal: "user:eve" } as const;
const since = new Date(Date.now() - 86_400_000);

it("finds what is rare by an index, and counts without looking into the records", async () => {
  const [log, reports] = [new PostgresAuditLog(explaining), new PostgresAuditReports(explaining)];
  const indexesOf = async (filter: Partial<AuditFilter>): Promise<string[]> => {
    await log.read({ kind: "intent", limit: 100, ...filter }, reading);
    return explaining.indexes;
  };
  expect(await indexesOf({ decision: "deny" })).toContain("Index Scan: audit_event_decision");
  expect(await indexesOf({ safetyLevel: "L2" })).toContain("Index Scan: audit_event_level");
  expect(await indexesOf({ outcome: "failed" })).toContain("Index Scan: audit_event_outcome_found");
  expect(await indexesOf({ kind: "outcome", outcome: "failed" })).toContain("Index Scan: audit_event_outcome_found");
  expect(await indexesOf({ principal: "user:7", since })).toContain("Bitmap Index Scan: audit_event_principal");
  await reports.timeline("cfcd2084-95d5-65ef-66e7-dff9f98764da", 0n, 100, reading);
  expect(explaining.indexes).toEqual(["Index Scan: audit_event_session"]);
  const spans = { start: since, seconds: 3_600 };
  const by = ["tool", "principal", "decision", "step", "safety_level"] as const;
  await reports.count({ kind: "intent", limit: 100, since }, { by, top: 10, spans }, reading);
  expect(explaining.indexes).toEqual(["Index Only Scan: audit_event_facets"]);
  await log.readApproved({ kind: "intent", decision: "allow", limit: 100, approver: "user:nobody" }, reading);
  expect(explaining.indexes.filter((index) => index.includes("facets"))).not.toEqual([]);
});
