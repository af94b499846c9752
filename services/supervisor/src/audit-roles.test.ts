import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres, type RunningPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { testLog } from "@hlvm/testing/test-log";
import { prepareDatabases } from "./adapters/prepare-databases.ts";
import { databaseName, serviceDatabases, WITH_DATABASE } from "./service-databases.ts";

const databases = serviceDatabases(Object.fromEntries(WITH_DATABASE.map((service) => [databaseName(service), "secret"])));
const policy = databases.find(({ name }) => name === "hlvm_policy")!;

let directory: string;
let postgres: RunningPostgres;
/** As policy's service. */
let service: Database;

const eventOf = (more: object = {}) => ({
  kind: "audit_read",
  at: new Date().toISOString(),
  organization: "local",
  principal: "user:ada",
  ...more,
});
const append = async (event: object): Promise<string | null> =>
  (await service.query<{ id: string | null }>("SELECT append_audit_event($1) AS id", [JSON.stringify(event)]))[0]!.id;
const count = async (): Promise<string> => (await service.query<{ count: string }>("SELECT count(*) FROM audit_event"))[0]!.count;

/** As the versions before did: the service's role owned the database and migrated it. */
async function makeAsBefore(): Promise<void> {
  const { owner, ...unowned } = policy;
  await prepareDatabases(postgres.url, [unowned], testLog);
  const migrations = join(directory, "migrations");
  mkdirSync(migrations);
  for (const name of ["0001_policy.sql", "0002_withdrawal.sql"]) copyFileSync(join(owner!.migrations, name), join(migrations, name));
  const before = new Database(postgres.url(policy.name, policy), testLog);
  await migrate(before, migrations);
  await before.query(
    "INSERT INTO audit_event (organization, at, kind, principal, payload) VALUES ('local', now(), 'audit_read', 'user:before', '{}')",
  );
  await before.close();
}

/** What would change, remove or forge what is recorded, or the ways to do so. */
const ATTEMPTS: readonly (readonly string[])[] = [
  ["UPDATE audit_event SET principal = 'x'"],
  ["DELETE FROM audit_event"],
  ["TRUNCATE audit_event"],
  ["DROP TABLE audit_event"],
  ["ALTER TABLE audit_event DISABLE TRIGGER ALL"],
  ["ALTER TABLE audit_event DISABLE TRIGGER audit_event_is_append_only"],
  ["ALTER TABLE audit_event RENAME TO audit_event_before"],
  ["ALTER TABLE audit_event OWNER TO hlvm_policy"],
  ["ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check"],
  ["ALTER TABLE audit_event ENABLE ROW LEVEL SECURITY"],
  ["DROP TRIGGER audit_event_is_append_only ON audit_event"],
  ["CREATE TRIGGER mine BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION refuse_change()"],
  ["CREATE RULE mine AS ON INSERT TO audit_event DO INSTEAD NOTHING"],
  ["DROP INDEX audit_event_intent"],
  ["INSERT INTO audit_event (organization, at, kind, principal, payload) VALUES ('local', now(), 'audit_read', 'user:x', '{}')"],
  ["COPY audit_event FROM PROGRAM 'echo'"],
  ["COPY audit_event (organization, at, kind, principal, payload) FROM '/dev/null'"],
  ["MERGE INTO audit_event USING (SELECT 1) one ON true WHEN MATCHED THEN DELETE"],
  ["LOCK TABLE audit_event IN ACCESS EXCLUSIVE MODE"],
  ["SELECT setval('audit_event_id_seq', 1)"],
  ["SELECT nextval('audit_event_id_seq')"],
  ["ALTER SEQUENCE audit_event_id_seq RESTART"],
  ["CREATE OR REPLACE FUNCTION append_audit_event(payload text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'"],
  ["CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"],
  ["ALTER FUNCTION append_audit_event(text) SECURITY INVOKER"],
  ["ALTER FUNCTION append_audit_event(text) SET search_path = pg_temp"],
  ["DROP FUNCTION append_audit_event(text)"],
  ["SET ROLE hlvm_policy_owner"],
  ["SET ROLE postgres"],
  ["SET SESSION AUTHORIZATION hlvm_policy_owner"],
  ["SET session_replication_role = replica"],
  ["ALTER ROLE hlvm_policy SUPERUSER"],
  ["ALTER ROLE hlvm_policy SET session_replication_role = replica"],
  ["ALTER ROLE hlvm_policy_owner LOGIN PASSWORD 'x'"],
  ["GRANT hlvm_policy_owner TO hlvm_policy"],
  ["GRANT pg_write_all_data TO hlvm_policy"],
  ["GRANT ALL ON audit_event TO hlvm_policy", "DELETE FROM audit_event"],
  ["REASSIGN OWNED BY hlvm_policy_owner TO hlvm_policy"],
  ["DROP OWNED BY hlvm_policy_owner"],
  ["ALTER DATABASE hlvm_policy OWNER TO hlvm_policy"],
  ["ALTER DATABASE hlvm_policy SET session_replication_role = replica"],
  ["DROP SCHEMA public CASCADE"],
  ["ALTER SCHEMA public RENAME TO before"],
  ["CREATE SCHEMA mine"],
  ["CREATE TABLE public.mine (a int)"],
  ["CREATE TEMPORARY TABLE audit_event (a int)"],
  ["CREATE TEMPORARY VIEW audit_event AS SELECT 1"],
  ["CREATE FUNCTION pg_temp.json_to_record(json) RETURNS record LANGUAGE sql AS 'SELECT 1'"],
  ["CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'"],
  ["CREATE EXTENSION pg_trgm"],
  ["CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION refuse_change()"],
  ["DELETE FROM migration"],
  ["TRUNCATE approval"],
  ["UPDATE pg_class SET relowner = 'hlvm_policy'::regrole WHERE relname = 'audit_event'"],
];

/** What PostgreSQL answers where a right is missing, one that only a superuser or an owner has included. */
const REFUSED = /permission denied|must be (owner|superuser)|must be able to SET ROLE/;

describe.each([
  { made: "made new", before: () => Promise.resolve(), known: "0" },
  { made: "that policy's service owned before", before: makeAsBefore, known: "1" },
])("policy's database, $made", ({ before, known }) => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "hlvm-audit-roles-"));
    const place = { directory: join(directory, "data"), socketDirectory: join(directory, "socket"), logFile: join(directory, "log") };
    postgres = await startPostgres({ ...place, durable: false });
    await before();
    await prepareDatabases(postgres.url, databases, testLog);
    await prepareDatabases(postgres.url, databases, testLog);
    service = new Database(postgres.url(policy.name, policy), testLog);
  });

  afterAll(async () => {
    await service.close();
    await postgres.stop();
    rmSync(directory, { recursive: true });
  });

  it("lets the service append events and read them", async () => {
    expect(await count()).toBe(known);
    const id = await append(eventOf({ query: "kind=intent" }));
    expect(await service.query("SELECT principal, kind, payload::json->>'query' AS query FROM audit_event WHERE id = $1", [id])).toEqual([
      { principal: "user:ada", kind: "audit_read", query: "kind=intent" },
    ]);
  });

  it("can neither be altered nor be disabled nor be deleted by the service's role", async () => {
    const recorded = await count();
    const notRefused: string[] = [];
    for (const attempt of ATTEMPTS) {
      const tried = service.transaction(async (queries) => {
        for (const sql of attempt) await queries.query(sql);
      });
      const answer = await tried.then(
        () => "done",
        (cause: Error) => cause.message,
      );
      if (!REFUSED.test(answer)) notRefused.push(`${attempt.join("; ")}: ${answer}`);
    }
    expect(notRefused).toEqual([]);
    expect(await count()).toBe(recorded);
    expect(await append(eventOf())).not.toBeNull();
  });

  it("takes no event that names another time, an unknown kind, or nobody", async () => {
    const minutes = (number: number): string => new Date(Date.now() + number * 60_000).toISOString();
    const backdated = { message: expect.stringContaining("cannot be recorded now") };
    await expect(append(eventOf({ at: minutes(-6) }))).rejects.toMatchObject(backdated);
    await expect(append(eventOf({ at: minutes(6) }))).rejects.toMatchObject(backdated);
    await expect(append(eventOf({ at: "infinity" }))).rejects.toMatchObject(backdated);
    await expect(append(eventOf({ at: undefined }))).rejects.toMatchObject(backdated);
    await expect(append(eventOf({ kind: "nothing" }))).rejects.toMatchObject({ constraint: "audit_event_kind_check" });
    await expect(append(eventOf({ principal: "" }))).rejects.toMatchObject({ message: expect.stringContaining("a principal") });
    await expect(append(eventOf({ organization: undefined }))).rejects.toMatchObject({
      message: expect.stringContaining("an organization"),
    });
  });

  it("takes one outcome of an allowed call, and none without its intent", async () => {
    const call = { sessionId: randomUUID(), runId: randomUUID(), callId: "call" };
    const outcome = eventOf({ kind: "outcome", ...call });
    expect(await append(outcome)).toBeNull();
    await append(eventOf({ kind: "intent", tool: "read_file", decision: "allow", step: "read_only", ...call }));
    expect(await append({ ...outcome, principal: "user:bob" })).toBeNull();
    const id = await append({ ...outcome, tool: "forged" });
    expect(await service.query("SELECT tool, decision, step FROM audit_event WHERE id = $1", [id])).toEqual([
      { tool: "read_file", decision: "allow", step: "read_only" },
    ]);
    expect(await append(outcome)).toBeNull();
  });

  it("refuses even its owner to change what is recorded", async () => {
    expect(await service.query("SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = 'public'")).toEqual([
      { owner: "hlvm_policy_owner" },
    ]);
    expect(await service.query("SELECT rolcanlogin, rolsuper FROM pg_roles WHERE rolname = 'hlvm_policy_owner'")).toEqual([
      { rolcanlogin: false, rolsuper: false },
    ]);
    expect(await service.query("SELECT FROM pg_auth_members WHERE roleid = 'hlvm_policy_owner'::regrole")).toEqual([]);
    const superuser = new Database(postgres.url(policy.name), testLog);
    const asOwner = superuser.transaction(async (queries) => {
      await queries.query("SET LOCAL ROLE hlvm_policy_owner");
      await queries.query("DELETE FROM audit_event");
    });
    await expect(asOwner).rejects.toMatchObject({ message: "permission denied: audit_event is append-only" });
    await superuser.close();
  });
});
