import { randomUUID } from "node:crypto";
import type { Queries } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import { principalFor } from "../../domain/identity/member.ts";
import type { Identified, WriteEvent } from "../../domain/identity/login-store.ts";

/** Of the groups that came or went so many are named in the log. */
const MOST_NAMED = 50;

const FIND = `
  SELECT member_id, principal, state, groups FROM identity.member WHERE organization = $1 AND issuer = $2 AND subject = $3 FOR UPDATE`;

const INSERT = `
  INSERT INTO identity.member (member_id, organization, principal, issuer, subject, name, email) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const UPDATE = `
  UPDATE identity.member SET name = $2, email = $3, groups = coalesce($4::text[], groups), last_seen_at = now() WHERE member_id = $1`;

const NAMED = `
  DELETE FROM identity.named_administrator WHERE organization = $1 AND lower(email) = lower($2) AND $2 <> ''
  RETURNING email`;

export interface Admitted {
  readonly memberId: string;
  readonly principal: string;
  readonly isActive: boolean;
  /** What changed, still to be recorded. */
  readonly events: AuditEvent[];
}

/**
 * The member that the identity provider speaks of, made where there is none, with what it says of them by now. Runs in the
 * transaction of the login, under the organization's lock.
 */
export async function admitMember(queries: Queries, identified: Identified, write: WriteEvent): Promise<Admitted> {
  const { organization, issuer, subject, name, email, groups } = identified;
  type Row = { member_id: string; principal: string; state: string; groups: string[] };
  const [known] = await queries.query<Row>(FIND, [organization, issuer, subject]);
  const member = known ?? (await insert(queries, identified));
  const { member_id: memberId, principal } = member;
  if (member.state !== "active") return { memberId, principal, isActive: false, events: [] };
  const events: AuditEvent[] = [];
  await queries.query(UPDATE, [memberId, name, email, groups ?? null]);
  const added = (groups ?? []).filter((group) => !member.groups.includes(group));
  const removed = groups === undefined ? [] : member.groups.filter((group) => !groups.includes(group));
  if (added.length + removed.length > 0) {
    const about = { member: principal, added: added.slice(0, MOST_NAMED), removed: removed.slice(0, MOST_NAMED), groups: groups!.length };
    events.push(write("member_groups_changed", { organization, principal }, about));
  }
  if ((await queries.query(NAMED, [organization, email])).length > 0) {
    await queries.query("INSERT INTO identity.manual_role VALUES ($1, 'admin') ON CONFLICT DO NOTHING", [memberId]);
    events.push(write("member_role_added", { organization, principal }, { member: principal, role: "admin", named: true }));
  }
  return { memberId, principal, isActive: true, events };
}

async function insert(queries: Queries, { organization, issuer, subject, name, email }: Identified) {
  const memberId = randomUUID();
  const wanted = principalFor(email, memberId, false);
  const taken = await queries.query("SELECT FROM identity.member WHERE organization = $1 AND principal = $2", [organization, wanted]);
  const principal = principalFor(email, memberId, taken.length > 0);
  await queries.query(INSERT, [memberId, organization, principal, issuer, subject, name, email]);
  return { member_id: memberId, principal, state: "active", groups: [] as string[] };
}
