import type { Role } from "@hlvm/identity/principal";
import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { AccessToken, TokenScope } from "../../domain/identity/access-token.ts";
import type { TokenOwner, TokenStore } from "../../domain/identity/token-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const COLUMNS =
  "token_id, organization, owner, owner_roles, label, scopes, allowed_models, created_at, expires_at, last_used_at, revoked_at";
const IS_LIVE = "revoked_at IS NULL AND expires_at > now()";

const CREATE = `
  WITH created AS (
    INSERT INTO identity.token (token_id, organization, owner, owner_roles, label, scopes, expires_at, sha256, allowed_models)
    SELECT $1::uuid, $2, $3, $4::text[], $5, $6::text[], $7, decode($8, 'hex'), $11::text[]
    WHERE (SELECT count(*) FROM identity.token WHERE organization = $2 AND owner = $3 AND ${IS_LIVE}) < $9
    RETURNING ${COLUMNS}
  )
  SELECT created.*, ${appendEvent(10)} FROM created`;

const LIST = `
  SELECT ${COLUMNS} FROM identity.token
  WHERE organization = $1 AND (owner = $2 OR $2 IS NULL AND starts_with(owner, 'account:')) AND least(revoked_at, expires_at) > now() - interval '30 days'
  ORDER BY created_at DESC, token_id`;

const IS_THEIRS = "organization = $1 AND (owner = $2 OR $5 AND starts_with(owner, 'account:')) AND token_id = $3::uuid";

const REVOKE = `
  WITH revoked AS (
    UPDATE identity.token SET revoked_at = now() WHERE ${IS_THEIRS} AND revoked_at IS NULL
    RETURNING ${COLUMNS}
  ), recorded AS (SELECT ${appendEvent(4)} FROM revoked)
  SELECT revoked.* FROM revoked, recorded
  UNION ALL
  SELECT ${COLUMNS} FROM identity.token WHERE ${IS_THEIRS} AND revoked_at IS NOT NULL`;

/**
 * When it was last used is written down once a minute: to look a token up must not cost a write each time. Its owner's roles are
 * those of this moment, where the owner is a member; the one user of local mode is none.
 */
const USE = `
  WITH found AS (
    SELECT token_id, token.organization, owner, label, scopes, allowed_models, token.created_at, expires_at, last_used_at, revoked_at,
      CASE WHEN member.member_id IS NULL THEN owner_roles
        ELSE ARRAY(SELECT DISTINCT role FROM identity.held_role held WHERE held.member_id = member.member_id) END AS owner_roles
    FROM identity.token LEFT JOIN identity.member ON member.organization = token.organization AND member.principal = token.owner
    WHERE sha256 = decode($1, 'hex') AND ${IS_LIVE} AND coalesce(member.state, 'active') = 'active'
  ),
  used AS (
    UPDATE identity.token SET last_used_at = now() FROM found
    WHERE token.token_id = found.token_id AND coalesce(found.last_used_at, '-infinity') < now() - interval '1 minute'
  )
  SELECT * FROM found`;

type TokenRow = {
  readonly token_id: string;
  readonly organization: string;
  readonly owner: string;
  readonly owner_roles: Role[];
  readonly label: string;
  readonly scopes: TokenScope[];
  readonly allowed_models: string[];
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
};

/** Tokens in PostgreSQL, by their hashes. */
export class PostgresTokenStore implements TokenStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async create(
    { tokenId, organization, owner, ownerRoles, label, scopes, allowedModels, expiresAt }: Omit<AccessToken, "createdAt">,
    sha256: string,
    most: number,
    event: AuditEvent,
  ): Promise<AccessToken | undefined> {
    const values = [tokenId, organization, owner, ownerRoles, label, scopes, expiresAt, sha256, most, recordOf(event), allowedModels];
    return tokenOf(await this.#database.query<TokenRow>(CREATE, values, "create_token"));
  }

  async list({ organization, id }: TokenOwner): Promise<AccessToken[]> {
    const rows = await this.#database.query<TokenRow>(LIST, [organization, id], "list_tokens");
    return rows.flatMap((row) => tokenOf([row]) ?? []);
  }

  async listOfAccounts(organization: string): Promise<AccessToken[]> {
    const rows = await this.#database.query<TokenRow>(LIST, [organization, null], "list_tokens");
    return rows.flatMap((row) => tokenOf([row]) ?? []);
  }

  async revoke(
    { organization, id }: TokenOwner,
    tokenId: string,
    ofAccounts: boolean,
    event: AuditEvent,
  ): Promise<AccessToken | undefined> {
    const values = [organization, id, tokenId, recordOf(event), ofAccounts];
    return tokenOf(await this.#database.query<TokenRow>(REVOKE, values, "revoke_token"));
  }

  async use(sha256: string): Promise<AccessToken | undefined> {
    return tokenOf(await this.#database.query<TokenRow>(USE, [sha256], "use_token"));
  }
}

function tokenOf([row]: readonly TokenRow[]): AccessToken | undefined {
  if (row === undefined) return undefined;
  return {
    tokenId: row.token_id,
    organization: row.organization,
    owner: row.owner,
    ownerRoles: row.owner_roles,
    label: row.label,
    scopes: row.scopes,
    allowedModels: row.allowed_models,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
  };
}
