import type { Database } from "@hlvm/postgres/database";
import type { GrantStore } from "../../domain/sharing/grant-store.ts";
import { SESSION_RIGHTS, type Grantee, type SessionGrant, type SessionRight } from "../../domain/sharing/session-grant.ts";

interface GrantRow extends Record<string, unknown> {
  readonly kind: Grantee["kind"];
  readonly subject: string;
  readonly level: number;
  readonly granted_by: string;
  readonly granted_at: Date;
  readonly until: Date | null;
}

const COLUMNS = "kind, subject, level, granted_by, granted_at, until";

/** SQL for the grants that reach a person now: whose organization, id and teams stand in these parameters. */
export function reaching(organization: string, principal: string, teams: string): string {
  return `organization = ${organization} AND (until IS NULL OR until > now())
    AND (kind = 'organization' OR kind = 'member' AND subject = ${principal} OR kind = 'team' AND subject = ANY (${teams}::text[]))`;
}

/** A worker is shared with its session, as its workspace is. */
const RIGHT = `
  SELECT max(level) AS level FROM session_grant
  WHERE session_id = (SELECT coalesce(work_session_id, session_id) FROM session WHERE session_id = $1) AND ${reaching("$2", "$3", "$4")}`;

const PUT = `
  INSERT INTO session_grant (session_id, organization, kind, subject, level, granted_by, until) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (session_id, kind, subject)
  DO UPDATE SET level = excluded.level, granted_by = excluded.granted_by, granted_at = now(), until = excluded.until
  RETURNING ${COLUMNS}`;

const TAKE = `
  WITH taken AS (
    UPDATE session SET workspace_owner = coalesce(workspace_owner, owner), owner = $3
    WHERE (session_id = $1 OR work_session_id = $1) AND owner = $2 RETURNING session_id, organization
  ), gone AS (
    DELETE FROM session_grant WHERE session_id = $1 AND kind = 'member' AND subject = $3
  )
  INSERT INTO session_grant (session_id, organization, kind, subject, level, granted_by)
  SELECT session_id, organization, 'member', $2, ${SESSION_RIGHTS.indexOf("drive") + 1}, $3 FROM taken WHERE session_id = $1
  ON CONFLICT (session_id, kind, subject) DO UPDATE SET level = excluded.level, granted_by = excluded.granted_by, until = NULL`;

/** Grants in PostgreSQL. */
export class PostgresGrantStore implements GrantStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(sessionId: string): Promise<SessionGrant[]> {
    const sql = `SELECT ${COLUMNS} FROM session_grant WHERE session_id = $1 AND (until IS NULL OR until > now()) ORDER BY granted_at, subject`;
    return (await this.#database.query<GrantRow>(sql, [sessionId], "list_grants")).map(grantOf);
  }

  async put(organization: string, sessionId: string, grant: Omit<SessionGrant, "grantedAt">): Promise<SessionGrant> {
    const { kind, subject, right, grantedBy, until } = grant;
    const level = SESSION_RIGHTS.indexOf(right) + 1;
    const values = [sessionId, organization, kind, subject, level, grantedBy, until ?? null];
    const [row] = await this.#database.query<GrantRow>(PUT, values, "put_grant");
    return grantOf(row!);
  }

  async remove(sessionId: string, { kind, subject }: Grantee): Promise<boolean> {
    const sql = "DELETE FROM session_grant WHERE session_id = $1 AND kind = $2 AND subject = $3 RETURNING kind";
    return (await this.#database.query(sql, [sessionId, kind, subject], "remove_grant")).length > 0;
  }

  async take(sessionId: string, formerOwner: string, newOwner: string): Promise<void> {
    await this.#database.query(TAKE, [sessionId, formerOwner, newOwner], "take_session");
  }
}

/** The right that reaches somebody; undefined where none. */
export async function findRight(
  database: Database,
  sessionId: string,
  { organization, id, teams }: { readonly organization: string; readonly id: string; readonly teams: readonly string[] },
): Promise<SessionRight | undefined> {
  const [row] = await database.query<{ level: number | null }>(RIGHT, [sessionId, organization, id, teams], "find_right");
  return SESSION_RIGHTS[(row?.level ?? 0) - 1];
}

/** Under whom the sandbox knows the workspace of a session; undefined where the session is yet to be. */
export async function findWorkspaceOwner(database: Database, sessionId: string): Promise<string | undefined> {
  const sql = "SELECT coalesce(workspace_owner, owner) AS owner FROM session WHERE session_id = $1";
  return (await database.query<{ owner: string }>(sql, [sessionId], "find_workspace_owner"))[0]?.owner;
}

function grantOf({ kind, subject, level, granted_by: grantedBy, granted_at: grantedAt, until }: GrantRow): SessionGrant {
  return { kind, subject, right: SESSION_RIGHTS[level - 1]!, grantedBy, grantedAt, ...(until === null ? {} : { until }) };
}
