import type { Role } from "@hlvm/identity/principal";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { GroupMapping, HeldRole, Member } from "../../domain/identity/member.ts";
import type { MemberChange, MemberFilter, MemberStore } from "../../domain/identity/member-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const SELECT_MEMBER = `
  SELECT member_id, organization, principal, name, email, state, created_at, last_seen_at,
    coalesce((SELECT json_agg(json_build_object('role', role, 'source', source, 'group', group_name) ORDER BY role, source, group_name)
      FROM identity.held_role held WHERE held.member_id = member.member_id), '[]') AS roles,
    ARRAY(SELECT team FROM identity.team_membership membership
      WHERE membership.organization = member.organization AND membership.principal = member.principal ORDER BY team) AS teams
  FROM identity.member`;

const FIND = `${SELECT_MEMBER} WHERE organization = $1 AND principal = $2`;

const LIST = `${SELECT_MEMBER}
  WHERE organization = $1 AND principal > $3
    AND ($2 = '' OR strpos(lower(principal || ' ' || name || ' ' || email), lower($2)) > 0)
  ORDER BY principal LIMIT $4`;

const ROLES_NOW = `
  SELECT ARRAY(SELECT DISTINCT role FROM identity.held_role held WHERE held.member_id = member.member_id AND state = 'active') AS roles
  FROM identity.member WHERE organization = $1 AND principal = $2`;

const ADD_ROLE = `
  INSERT INTO identity.manual_role (member_id, role) SELECT member_id, $3 FROM identity.member WHERE organization = $1 AND principal = $2
  ON CONFLICT DO NOTHING RETURNING role`;

const REMOVE_ROLE = `
  DELETE FROM identity.manual_role USING identity.member
  WHERE member.member_id = manual_role.member_id AND organization = $1 AND principal = $2 AND role = $3 RETURNING role`;

const SET_STATE = `UPDATE identity.member SET state = $3 WHERE organization = $1 AND principal = $2 AND state <> $3 RETURNING state`;

const END_LOGINS = `
  UPDATE identity.credential SET revoked_at = now() FROM identity.member
  WHERE member.member_id = credential.member_id AND organization = $1 AND principal = $2 AND revoked_at IS NULL`;

const MAP = "INSERT INTO identity.group_mapping VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING gives";

const HAS_ADMINISTRATOR = `
  SELECT EXISTS (SELECT FROM identity.member JOIN identity.held_role USING (member_id)
    WHERE organization = $1 AND state = 'active' AND role = 'admin') AS found`;

/** Changes of who may what in an organization happen one after the other: two administrators cannot remove each other at once. */
export const LOCK_MEMBERS = "SELECT pg_advisory_xact_lock(hashtextextended('identity.member ' || $1, 0))";

type MemberRow = {
  readonly member_id: string;
  readonly organization: string;
  readonly principal: string;
  readonly name: string;
  readonly email: string;
  readonly state: Member["state"];
  readonly roles: HeldRole[];
  readonly teams: string[];
  readonly created_at: Date;
  readonly last_seen_at: Date | null;
};

/** Undoes the transaction in which it is thrown. */
class LastAdministrator extends Error {}

/** Members in PostgreSQL. */
export class PostgresMemberStore implements MemberStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(organization: string, principal: string): Promise<Member | undefined> {
    const [row] = await this.#database.query<MemberRow>(FIND, [organization, principal], "find_member");
    return row === undefined ? undefined : memberOf(row);
  }

  async rolesNow(organization: string, principal: string): Promise<readonly Role[] | undefined> {
    return (await this.#database.query<{ roles: Role[] }>(ROLES_NOW, [organization, principal], "roles_now"))[0]?.roles;
  }

  async list(organization: string, { text, after, limit }: MemberFilter): Promise<Member[]> {
    return (await this.#database.query<MemberRow>(LIST, [organization, text, after, limit], "list_members")).map(memberOf);
  }

  addRole(organization: string, principal: string, role: Role, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, (queries) => changeMember(queries, ADD_ROLE, [organization, principal, role]));
  }

  removeRole(organization: string, principal: string, role: Role, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, (queries) => changeMember(queries, REMOVE_ROLE, [organization, principal, role]));
  }

  suspend(organization: string, principal: string, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, async (queries) => {
      await queries.query(END_LOGINS, [organization, principal]);
      return changeMember(queries, SET_STATE, [organization, principal, "suspended"]);
    });
  }

  resume(organization: string, principal: string, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, (queries) => changeMember(queries, SET_STATE, [organization, principal, "active"]));
  }

  mappings(organization: string): Promise<GroupMapping[]> {
    const list = `SELECT group_name AS "group", kind, gives FROM identity.group_mapping WHERE organization = $1 ORDER BY 1, 2, 3`;
    return this.#database.query<{ group: string; kind: GroupMapping["kind"]; gives: string }>(list, [organization], "list_mappings");
  }

  map(organization: string, { group, kind, gives }: GroupMapping, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, async (queries) => {
      const team = "SELECT FROM identity.team WHERE organization = $1 AND name = $2";
      if (kind === "team" && (await queries.query(team, [organization, gives])).length === 0) return "no_team";
      return (await queries.query(MAP, [organization, group, kind, gives])).length === 0 ? "unchanged" : "done";
    });
  }

  unmap(organization: string, { group, kind, gives }: GroupMapping, event: AuditEvent): Promise<MemberChange> {
    return this.#change(organization, event, async (queries) => {
      const remove = `DELETE FROM identity.group_mapping
        WHERE organization = $1 AND group_name = $2 AND kind = $3 AND gives = $4 RETURNING gives`;
      return (await queries.query(remove, [organization, group, kind, gives])).length === 0 ? "unchanged" : "done";
    });
  }

  nameAdministrator(
    organization: string,
    { email, mappings }: { readonly email: string; readonly mappings: readonly GroupMapping[] },
    events: readonly AuditEvent[],
  ): Promise<string | undefined> {
    return this.#database.transaction(async (queries) => {
      await queries.query(LOCK_MEMBERS, [organization]);
      if (await hasAdministrator(queries, organization)) return undefined;
      const forget = "DELETE FROM identity.named_administrator WHERE organization = $1";
      await queries.query(forget, [organization]);
      const find = `SELECT principal FROM identity.member
        WHERE organization = $1 AND lower(email) = lower($2) AND state = 'active' ORDER BY last_seen_at DESC NULLS LAST LIMIT 1`;
      const [found] = await queries.query<{ principal: string }>(find, [organization, email]);
      if (found === undefined) await queries.query("INSERT INTO identity.named_administrator VALUES ($1, $2)", [organization, email]);
      else await queries.query(ADD_ROLE, [organization, found.principal, "admin"]);
      for (const { group, kind, gives } of mappings) await queries.query(MAP, [organization, group, kind, gives]);
      for (const event of events) await queries.query(`SELECT ${appendEvent(1)}`, [recordOf(event)]);
      return found?.principal ?? "";
    });
  }

  async #change(organization: string, event: AuditEvent, work: (queries: Queries) => Promise<MemberChange>): Promise<MemberChange> {
    try {
      return await this.#database.transaction(async (queries) => {
        await queries.query(LOCK_MEMBERS, [organization]);
        const hadOne = await hasAdministrator(queries, organization);
        const change = await work(queries);
        if (change !== "done") return change;
        if (hadOne && !(await hasAdministrator(queries, organization))) throw new LastAdministrator();
        await queries.query(`SELECT ${appendEvent(1)}`, [recordOf(event)]);
        return change;
      });
    } catch (thrown) {
      if (thrown instanceof LastAdministrator) return "last_administrator";
      throw thrown;
    }
  }
}

async function changeMember(queries: Queries, sql: string, values: readonly unknown[]): Promise<MemberChange> {
  if ((await queries.query(sql, values)).length > 0) return "done";
  const known = await queries.query("SELECT FROM identity.member WHERE organization = $1 AND principal = $2", values.slice(0, 2));
  return known.length === 0 ? "no_member" : "unchanged";
}

async function hasAdministrator(queries: Queries, organization: string): Promise<boolean> {
  const [row] = await queries.query<{ found: boolean }>(HAS_ADMINISTRATOR, [organization]);
  return row!.found;
}

function memberOf(row: MemberRow): Member {
  const { member_id: memberId, organization, principal, name, email, state, roles, teams, created_at: createdAt } = row;
  const lastSeen = row.last_seen_at === null ? {} : { lastSeenAt: row.last_seen_at };
  return { memberId, organization, principal, name, email, state, roles, teams, createdAt, ...lastSeen };
}
