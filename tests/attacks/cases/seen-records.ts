import type pg from "pg";
import { findingOf, notRun, type AttackCase, type Finding } from "../attack-case.ts";
import { readFile, shell, type AttackMesh } from "../attack-mesh.ts";
import { connectAsSuperuser, connectDatabase, databasesOf, serviceRoles } from "../mesh-database.ts";

/** What would let somebody rewrite the past; each is tried in a transaction of its own that is taken back. */
const REWRITES: readonly (readonly string[])[] = [
  ["UPDATE audit_event SET principal = 'user:somebody-else'"],
  ["DELETE FROM audit_event"],
  ["TRUNCATE audit_event"],
  ["DROP TABLE audit_event CASCADE"],
  ["ALTER TABLE audit_event DISABLE TRIGGER ALL", "DELETE FROM audit_event"],
  ["ALTER TABLE audit_event DISABLE TRIGGER USER"],
  ["ALTER TABLE audit_event RENAME TO old_audit_event"],
  ["ALTER TABLE audit_event ALTER COLUMN payload TYPE text USING ''"],
  ["DROP TRIGGER audit_event_is_append_only ON audit_event", "DELETE FROM audit_event"],
  ["CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"],
  ["CREATE RULE forget AS ON INSERT TO audit_event DO INSTEAD NOTHING"],
  ["SET LOCAL session_replication_role = replica", "DELETE FROM audit_event"],
  ["GRANT ALL ON audit_event TO PUBLIC", "SELECT 1 / (has_table_privilege('public', 'audit_event', 'DELETE')::int)"],
  ["SET LOCAL search_path = pg_temp, public", "CREATE TEMP TABLE audit_event (id int)", "DROP TABLE public.audit_event CASCADE"],
];

/** Every role that a service logs in with, against every database that holds an audit log. */
export async function rewriteAudit(mesh: AttackMesh): Promise<Finding> {
  await mesh.ask(mesh.workspace(), "plan", [[shell("ls")]]);
  const databases = await databasesWithAudit(mesh);
  if (databases.length === 0) return notRun("no database of the mesh has a table audit_event");
  const problems: string[] = [];
  for (const database of databases)
    for (const role of serviceRoles(mesh)) {
      const client = await connectDatabase(mesh, database, role.name, role.password).catch(() => undefined);
      if (client === undefined) continue;
      for (const statements of await rewritesOf(client)) {
        await client.query("BEGIN");
        const done = await client.query(statements.join("; ")).then(
          () => true,
          () => false,
        );
        await client.query("ROLLBACK");
        if (done) problems.push(`${role.name}: ${statements.join("; ").slice(0, 60)}`);
      }
      await client.end();
    }
  return findingOf(problems, `${REWRITES.length} ways to rewrite are refused to every service's role`);
}

/** As the role itself, and as every other that it may take on. */
async function rewritesOf(client: pg.Client): Promise<readonly (readonly string[])[]> {
  const { rows } = await client.query<{ name: string }>("SELECT rolname AS name FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1");
  return [
    ...REWRITES,
    ...rows.flatMap(({ name }) =>
      ["DELETE FROM audit_event", "ALTER TABLE audit_event DISABLE TRIGGER ALL"].map((statement) => [
        `SET LOCAL ROLE ${client.escapeIdentifier(name)}`,
        statement,
      ]),
    ),
  ];
}

async function databasesWithAudit(mesh: AttackMesh): Promise<string[]> {
  const found: string[] = [];
  for (const database of await databasesOf(mesh)) {
    const client = await connectAsSuperuser(mesh, database);
    const { rows } = await client.query("SELECT 1 FROM pg_tables WHERE tablename = 'audit_event'");
    if (rows.length > 0) found.push(database);
    await client.end();
  }
  return found;
}

/** Made up, of the forms that well-known providers give out. */
const parts = (...pieces: string[]): string => pieces.join("");
const KEY_BODY = "MIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu";
const SECRETS: Readonly<Record<string, string>> = {
  "AWS key": parts("AKIA", "QYLPMN5HHHFPZAM2"),
  "GitHub token": parts("ghp_", "R4Zk8vYxWq2Lm7Nc1Tb9Hs5Jd3Gf6Pa0Ue2K"),
  "Slack token": parts("xoxb-", "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"),
  "private key": parts("-----BEGIN RSA PRIVATE ", "KEY-----\n", KEY_BODY, "\n-----END RSA PRIVATE ", "KEY-----"),
};

/** A secret in a command, in what it prints, in a file that is read, and in what the model says. */
export async function secretsInClear(mesh: AttackMesh): Promise<Finding> {
  const workspace = mesh.workspace(Object.fromEntries(Object.entries(SECRETS).map(([name, secret]) => [`${name}.txt`, `${secret}\n`])));
  const calls = Object.entries(SECRETS).flatMap(([name, secret]) => [
    shell(`cat '${name}.txt'; printf %s '${secret}'`),
    readFile(`${name}.txt`),
  ]);
  const { events } = await mesh.ask(workspace, "bypassPermissions", [calls], {
    answer: `It says ${Object.values(SECRETS).join(" and ")}.`,
  });
  const log = JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const problems = new Set<string>();
  for (const [name, secret] of Object.entries(SECRETS))
    if (log.includes(core(secret))) problems.add(`${name} in the events of the session`);
  for (const database of await databasesOf(mesh)) {
    const client = await connectAsSuperuser(mesh, database);
    const tables = await client.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
    for (const table of tables.rows)
      for (const [name, secret] of Object.entries(SECRETS))
        if (await holds(client, table.name, core(secret))) problems.add(`${name} in ${database}.${table.name}`);
    await client.end();
  }
  return findingOf([...problems], `${Object.keys(SECRETS).length} kinds of secret stand in no table and no event`);
}

/** What of a secret has to be gone: of a key, what is between its first and last line. */
function core(secret: string): string {
  return secret.includes(KEY_BODY) ? KEY_BODY : secret;
}

/** Columns of bytes hold what is written in them too. */
async function holds(client: pg.Client, table: string, text: string): Promise<boolean> {
  const asText = `position($1 in t::text) > 0 OR position($2 in t::text) > 0`;
  const { rows } = await client.query(`SELECT 1 FROM ${client.escapeIdentifier(table)} t WHERE ${asText} LIMIT 1`, [
    text,
    Buffer.from(text).toString("hex"),
  ]);
  return rows.length > 0;
}

export const seenRecords: readonly AttackCase[] = [
  { group: "seen", name: "the role of a service rewrites the audit log", run: rewriteAudit },
  { group: "seen", name: "secrets stand in clear in the event log", run: secretsInClear },
];
