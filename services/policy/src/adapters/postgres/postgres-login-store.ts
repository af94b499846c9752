import { randomUUID } from "node:crypto";
import type { Role } from "@hlvm/identity/principal";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type {
  Identified,
  LetIn,
  LetInCommand,
  LoginAttempt,
  LoginStore,
  LoopbackReceiver,
  NewCredential,
  TokenPair,
  WriteEvent,
} from "../../domain/identity/login-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";
import { admitMember } from "./admit-member.ts";
import { LOCK_MEMBERS } from "./postgres-member-store.ts";

const ATTEMPT = "interval '10 minutes'";
/** How long each kind lasts, and how long unused. A leaver whom nobody suspends is out after the longest of them. */
const LIVES = {
  browser: { lasts: "24 hours", idleSeconds: 8 * 60 * 60 },
  code: { lasts: "1 minute", idleSeconds: null },
  cli: { lasts: "1 hour", idleSeconds: null },
  refresh: { lasts: "24 hours", idleSeconds: null },
} as const;
/** However often it is continued. */
const FAMILY_LASTS = "interval '7 days'";

const IS_LIVE = `credential.revoked_at IS NULL AND credential.expires_at > now()
  AND (credential.idle_seconds IS NULL OR credential.last_used_at > now() - make_interval(secs => credential.idle_seconds))`;

const BEGIN = `
  INSERT INTO identity.login_attempt (organization, state_sha256, browser_sha256, nonce, code_verifier, return_to, receiver)
  SELECT $1, decode($2, 'hex'), decode($3, 'hex'), $4, $5, $6, $7::jsonb
  WHERE (SELECT count(*) FROM identity.login_attempt WHERE organization = $1 AND begun_at > now() - ${ATTEMPT}) < $8
  RETURNING nonce`;

const TAKE = `
  DELETE FROM identity.login_attempt
  WHERE state_sha256 = decode($1, 'hex') AND browser_sha256 = decode($2, 'hex') AND begun_at > now() - ${ATTEMPT}
  RETURNING organization, nonce, code_verifier, return_to, receiver`;

const INSERT = `
  INSERT INTO identity.credential (credential_id, family_id, member_id, sha256, kind, label, code_challenge, idle_seconds, authenticated_at, expires_at)
  VALUES ($1, $2, $3, decode($4, 'hex'), $5, $6, $7, $8, coalesce($9, now()),
    least(now() + $10::interval, coalesce($9, now()) + ${FAMILY_LASTS}))
  RETURNING expires_at`;

/** When it was last used is written down once a minute: to look one up must not cost a write each time. */
const RESOLVE = `
  WITH found AS (
    SELECT credential.credential_id, credential.last_used_at, credential.authenticated_at, member.member_id, organization, principal,
      ARRAY(SELECT DISTINCT role FROM identity.held_role held WHERE held.member_id = member.member_id ORDER BY role) AS roles
    FROM identity.credential JOIN identity.member USING (member_id)
    WHERE sha256 = decode($1, 'hex') AND kind = $2 AND state = 'active' AND ${IS_LIVE}
  ), used AS (
    UPDATE identity.credential SET last_used_at = now() FROM found
    WHERE credential.credential_id = found.credential_id AND found.last_used_at < now() - interval '1 minute'
  ), seen AS (
    UPDATE identity.member SET last_seen_at = now() FROM found
    WHERE member.member_id = found.member_id AND coalesce(member.last_seen_at, '-infinity') < now() - interval '1 minute'
  )
  SELECT * FROM found`;

const FIND_ONCE = `
  SELECT credential.*, organization, principal, state FROM identity.credential JOIN identity.member USING (member_id)
  WHERE sha256 = decode($1, 'hex') AND kind = $2 FOR UPDATE OF credential`;

const REVOKE_FAMILY = "UPDATE identity.credential SET revoked_at = now() WHERE family_id = $1 AND revoked_at IS NULL RETURNING kind";

type OnceRow = {
  readonly credential_id: string;
  readonly family_id: string;
  readonly member_id: string;
  readonly label: string;
  readonly code_challenge: string | null;
  readonly authenticated_at: Date;
  readonly expires_at: Date;
  readonly swapped_at: Date | null;
  readonly revoked_at: Date | null;
  readonly organization: string;
  readonly principal: string;
  readonly state: string;
};

/** Logins in PostgreSQL. */
export class PostgresLoginStore implements LoginStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async begin(attempt: LoginAttempt, most: number): Promise<boolean> {
    const { organization, stateSha256, browserSha256, nonce, codeVerifier, returnTo, receiver } = attempt;
    const receiverJson = receiver === undefined ? null : JSON.stringify(receiver);
    const values = [organization, stateSha256, browserSha256, nonce, codeVerifier, returnTo, receiverJson, most];
    return (await this.#database.query(BEGIN, values)).length > 0;
  }

  async take(stateSha256: string, browserSha256: string): Promise<LoginAttempt | undefined> {
    type Row = { organization: string; nonce: string; code_verifier: string; return_to: string; receiver: LoopbackReceiver | null };
    const [row] = await this.#database.query<Row>(TAKE, [stateSha256, browserSha256]);
    if (row === undefined) return undefined;
    const { organization, nonce, code_verifier: codeVerifier, return_to: returnTo, receiver } = row;
    return { organization, stateSha256, browserSha256, nonce, codeVerifier, returnTo, ...(receiver === null ? {} : { receiver }) };
  }

  finish(identified: Identified, credential: NewCredential, write: WriteEvent): Promise<string | undefined> {
    const { organization, issuer } = identified;
    return this.#database.transaction(async (queries) => {
      await queries.query(LOCK_MEMBERS, [organization]);
      const { memberId, principal, isActive, events } = await admitMember(queries, identified, write);
      if (isActive) {
        const { credentialId } = await add(queries, { ...credential, memberId, familyId: randomUUID() });
        const about = { credentialId, issuer, kind: credential.kind, ...(credential.label === "" ? {} : { label: credential.label }) };
        events.push(write("member_logged_in", { organization, principal }, about));
      } else events.push(write("login_failed", { organization, principal }, { reason: "member_suspended" }));
      for (const event of events) await append(queries, event);
      return isActive ? principal : undefined;
    });
  }

  record(event: AuditEvent): Promise<void> {
    return append(this.#database, event);
  }

  async resolve(sha256: string, kind: "browser" | "cli"): Promise<LetIn | undefined> {
    type Row = { credential_id: string; organization: string; principal: string; roles: Role[]; authenticated_at: Date };
    const [row] = await this.#database.query<Row>(RESOLVE, [sha256, kind], "resolve_credential");
    if (row === undefined) return undefined;
    const { credential_id: credentialId, organization, principal, roles, authenticated_at: authenticatedAt } = row;
    return { credentialId, organization, principal, roles, authenticatedAt };
  }

  redeem(codeSha256: string, codeChallenge: string, next: TokenPair): Promise<LetInCommand | undefined> {
    return this.#database.transaction(async (queries) => {
      const [code] = await queries.query<OnceRow>(FIND_ONCE, [codeSha256, "code"]);
      if (code === undefined || isOver(code) || code.swapped_at !== null || code.state !== "active") return undefined;
      // Who has the code and not its verifier is not who asked for it: nobody gets anything for it any more.
      await queries.query("UPDATE identity.credential SET swapped_at = now() WHERE credential_id = $1", [code.credential_id]);
      return code.code_challenge === codeChallenge ? addPair(queries, code, next) : undefined;
    });
  }

  refresh(refreshSha256: string, next: TokenPair, write: WriteEvent): Promise<LetInCommand | "reused" | undefined> {
    return this.#database.transaction(async (queries) => {
      const [refresh] = await queries.query<OnceRow>(FIND_ONCE, [refreshSha256, "refresh"]);
      if (refresh === undefined || isOver(refresh) || refresh.state !== "active") return undefined;
      if (refresh.swapped_at !== null) {
        await queries.query(REVOKE_FAMILY, [refresh.family_id]);
        await append(queries, write("credential_reused", refresh, { credentialId: refresh.credential_id, label: refresh.label }));
        return "reused";
      }
      await queries.query("UPDATE identity.credential SET swapped_at = now() WHERE credential_id = $1", [refresh.credential_id]);
      return addPair(queries, refresh, next);
    });
  }

  async revoke(sha256: string, write: WriteEvent): Promise<void> {
    await this.#database.transaction(async (queries) => {
      const find = `SELECT family_id, organization, principal FROM identity.credential JOIN identity.member USING (member_id)
        WHERE sha256 = decode($1, 'hex')`;
      const [found] = await queries.query<{ family_id: string; organization: string; principal: string }>(find, [sha256]);
      if (found === undefined) return;
      const ended = await queries.query(REVOKE_FAMILY, [found.family_id]);
      if (ended.length > 0) await append(queries, write("member_logged_out", found, {}));
    });
  }

  async forget(): Promise<void> {
    for (const sql of [
      `DELETE FROM identity.login_attempt WHERE begun_at < now() - ${ATTEMPT}`,
      `DELETE FROM identity.device_attempt WHERE begun_at < now() - ${ATTEMPT}`,
      `DELETE FROM identity.wrong_device_code WHERE at < now() - ${ATTEMPT}`,
      "DELETE FROM identity.credential WHERE expires_at < now() - interval '30 days'",
    ])
      await this.#database.query(sql);
  }
}

function isOver({ expires_at: expiresAt, revoked_at: revokedAt }: OnceRow): boolean {
  return revokedAt !== null || expiresAt.getTime() <= Date.now();
}

export async function append(queries: Queries, event: AuditEvent): Promise<void> {
  await queries.query(`SELECT ${appendEvent(1)}`, [recordOf(event)]);
}

interface Added {
  readonly memberId: string;
  readonly familyId: string;
  readonly sha256: string;
  readonly kind: keyof typeof LIVES;
  readonly label: string;
  readonly codeChallenge?: string;
  readonly authenticatedAt?: Date;
}

async function add(queries: Queries, added: Added): Promise<{ readonly credentialId: string; readonly expiresAt: Date }> {
  const { memberId, familyId, sha256, kind, label, codeChallenge = null, authenticatedAt = null } = added;
  const { lasts, idleSeconds } = LIVES[kind];
  const credentialId = randomUUID();
  const values = [credentialId, familyId, memberId, sha256, kind, label, codeChallenge, idleSeconds, authenticatedAt, lasts];
  const [row] = await queries.query<{ expires_at: Date }>(INSERT, values);
  return { credentialId, expiresAt: row!.expires_at };
}

type Login = Pick<OnceRow, "member_id" | "family_id" | "label" | "authenticated_at" | "principal">;

/** An access token and the refresh token that comes with it. */
export async function addPair(queries: Queries, login: Login, { accessSha256, refreshSha256 }: TokenPair): Promise<LetInCommand> {
  const { member_id: memberId, family_id: familyId, label, authenticated_at: authenticatedAt, principal } = login;
  const both = { memberId, familyId, label, authenticatedAt };
  const { expiresAt } = await add(queries, { ...both, sha256: accessSha256, kind: "cli" });
  await add(queries, { ...both, sha256: refreshSha256, kind: "refresh" });
  return { principal, expiresAt };
}
