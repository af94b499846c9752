import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { PostgresAuditLog } from "@hlvm/service-policy/src/adapters/postgres/postgres-audit-log.ts";
import { PostgresAuditReports } from "@hlvm/service-policy/src/adapters/postgres/postgres-audit-reports.ts";
import type { AuditFilter } from "@hlvm/service-policy/src/domain/audit/audit-log.ts";
import type { AuditField } from "@hlvm/service-policy/src/domain/audit/audit-reports.ts";
import { testLog } from "@hlvm/testing/test-log";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { BENCH_CALLS, loadAuditEvents } from "./audit-events.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const TIMES = 5;
const DAY_MILLISECONDS = 86_400_000;
const SESSION = "cfcd2084-95d5-65ef-66e7-dff9f98764da";
const USUAL: readonly AuditField[] = ["tool", "principal", "decision", "step", "safety_level"];

/** How long questions to an audit log of a million events take, in the statements that the service sends. */
export async function benchAudit(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-audit-"));
  const postgres = await startPostgres({
    directory,
    socketDirectory: join(directory, "s"),
    logFile: join(directory, "postgres.log"),
    durable: false,
  });
  const database = new Database(postgres.url("postgres"), testLog);
  try {
    await migrate(database, join(repositoryRoot, "services", "policy", "migrations"));
    const events = await loadAuditEvents(database);
    const rows = [];
    for (const [question, ask] of Object.entries(questionsTo(database))) rows.push({ question, ...(await measure(ask)) });
    printTable(`An audit log of ${events} events (${BENCH_CALLS} calls), ${TIMES} times each, warm`, rows);
  } finally {
    await database.close();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(ask: () => Promise<unknown>): Promise<{ "p50 ms": number; "worst ms": number }> {
  await ask();
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  return { "p50 ms": quantile(times, 0.5), "worst ms": Math.max(...times) };
}

function questionsTo(database: Database): Readonly<Record<string, () => Promise<unknown>>> {
  const [log, reports] = [new PostgresAuditLog(database), new PostgresAuditReports(database)];
  const reading = () =>
    ({ kind: "audit_read", at: new Date().toISOString(), organization: "local", principal: "user:eve", query: "bench" }) as const;
  const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MILLISECONDS);
  const page = (filter: Partial<AuditFilter>) => () => log.read({ kind: "intent", limit: 100, ...filter }, reading());
  const count = (by: readonly AuditField[], since: Date, seconds: number) => () =>
    reports.count({ kind: "intent", limit: 100, since }, { by, top: 10, spans: { start: since, seconds } }, reading());
  return {
    "newest page": page({}),
    "page by tool, person and time": page({ tool: "shell_exec", principal: "user:person7", until: daysAgo(20) }),
    "page of denials": page({ decision: "deny" }),
    "page of failures": page({ outcome: "failed" }),
    "page of L2": page({ safetyLevel: "L2" }),
    "rule that there is none of": page({ rule: "nothing" }),
    "touched: one file": page({ path: "src/folder7/file7.ts" }),
    "touched: a host that nobody named": page({ host: "example.com" }),
    "text that is nowhere": page({ text: "nothing of it" }),
    "text that is nowhere, one day": page({ text: "nothing of it", since: daysAgo(1) }),
    "who approved, by approver": () =>
      log.readApproved({ kind: "intent", decision: "allow", approver: "user:nobody", limit: 100 }, reading()),
    "session timeline": () => reports.timeline(SESSION, 0n, 100, reading()),
    "five facets and a histogram, 30 days": count(USUAL, daysAgo(30), 21_600),
    "five facets and a histogram, one day": count(USUAL, daysAgo(1), 3_600),
    "by session and rule, 30 days": count(["session", "rule"], daysAgo(30), 21_600),
    "by outcome, 30 days": count(["outcome"], daysAgo(30), 21_600),
  };
}
