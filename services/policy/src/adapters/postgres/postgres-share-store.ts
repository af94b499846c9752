import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { FoundShares, SharedSession, Share, ShareStore } from "../../domain/sharing/share-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const PUT = `
  WITH put AS (
    INSERT INTO session_share (organization, session_id, owner, kind, subject, session_right, until)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (organization, session_id, owner, kind, subject)
    DO UPDATE SET session_right = excluded.session_right, until = excluded.until
  ) SELECT ${appendEvent(8)}`;

const REMOVE = `
  WITH gone AS (DELETE FROM session_share WHERE organization = $1 AND session_id = $2 AND kind = $3 AND subject = $4)
  SELECT ${appendEvent(5)}`;

/** Shares go along with the session; whoever has it now is no longer one with whom it is shared. Taken twice, it is recorded once. */
const TAKE = `
  WITH offer AS (
    SELECT share.owner, coalesce(taken.workspace_owner, share.owner) AS workspace_owner
    FROM session_share share LEFT JOIN session_taken taken USING (organization, session_id)
    WHERE share.organization = $1 AND share.session_id = $2 AND share.kind = 'member' AND share.subject = $3
      AND share.session_right = 'own' AND (share.until IS NULL OR share.until > now()) AND share.owner = coalesce(taken.owner, share.owner)
    LIMIT 1
  ), taken AS (
    INSERT INTO session_taken (organization, session_id, workspace_owner, owner) SELECT $1, $2, workspace_owner, $3 FROM offer
    ON CONFLICT (organization, session_id) DO UPDATE SET owner = excluded.owner
  ), moved AS (
    UPDATE session_share share SET owner = $3 FROM offer
    WHERE share.organization = $1 AND share.session_id = $2 AND share.owner = offer.owner
      AND NOT (share.kind = 'member' AND share.subject IN ($3, offer.owner))
  ), gone AS (
    DELETE FROM session_share share USING offer
    WHERE share.organization = $1 AND share.session_id = $2 AND share.owner = offer.owner
      AND share.kind = 'member' AND share.subject IN ($3, offer.owner)
  ), former AS (
    INSERT INTO session_share (organization, session_id, owner, kind, subject, session_right)
    SELECT $1, $2, $3, 'member', owner, 'drive' FROM offer
    ON CONFLICT (organization, session_id, owner, kind, subject) DO UPDATE SET session_right = 'drive', until = NULL
  )
  SELECT ${appendEvent(4)} FROM offer
  UNION ALL SELECT 0 FROM session_taken
  WHERE organization = $1 AND session_id = $2 AND owner = $3 AND NOT EXISTS (SELECT FROM offer)`;

/** Of whoever has the session. Nobody but its owner can have said so: of several who did, the sandbox knows the one whose it is. */
const FIND = `
  WITH taken AS (SELECT workspace_owner, owner FROM session_taken WHERE organization = $1 AND session_id = $2)
  SELECT coalesce(taken.workspace_owner, share.owner) AS workspace_owner, coalesce(taken.owner, share.owner) AS owner, kind, subject, session_right
  FROM taken FULL JOIN (
    SELECT * FROM session_share WHERE organization = $1 AND session_id = $2 AND (until IS NULL OR until > now())
  ) AS share ON share.owner = taken.owner
  WHERE NOT EXISTS (SELECT FROM taken WHERE taken.owner <> share.owner)`;

type ShareRow = {
  readonly workspace_owner: string;
  readonly owner: string;
  readonly kind: Share["kind"] | null;
  readonly subject: string | null;
  readonly session_right: Share["right"] | null;
};
type Appended = { readonly id: string | null };

/** Shares in PostgreSQL. */
export class PostgresShareStore implements ShareStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async put({ organization, sessionId }: SharedSession, owner: string, share: Share, event: AuditEvent): Promise<bigint> {
    const { kind, subject, right, until } = share;
    const values = [organization, sessionId, owner, kind, subject, right, until ?? null, recordOf(event)];
    return idOf(await this.#database.query<Appended>(PUT, values, "put_share")) ?? 0n;
  }

  async remove({ organization, sessionId }: SharedSession, { kind, subject }: Pick<Share, "kind" | "subject">, event: AuditEvent) {
    const values = [organization, sessionId, kind, subject, recordOf(event)];
    return idOf(await this.#database.query<Appended>(REMOVE, values, "remove_share")) ?? 0n;
  }

  async take({ organization, sessionId }: SharedSession, newOwner: string, event: AuditEvent): Promise<bigint | undefined> {
    return idOf(await this.#database.query<Appended>(TAKE, [organization, sessionId, newOwner, recordOf(event)], "take_session"));
  }

  async find({ organization, sessionId }: SharedSession): Promise<FoundShares | undefined> {
    const rows = await this.#database.query<ShareRow>(FIND, [organization, sessionId], "find_shares");
    const [first] = rows;
    if (first === undefined) return undefined;
    const shares = rows.flatMap(({ owner, kind, subject, session_right: right }) =>
      owner === first.owner && kind !== null ? [{ kind, subject: subject!, right: right! }] : [],
    );
    return { workspaceOwner: first.workspace_owner, owner: first.owner, shares };
  }
}

function idOf([row]: readonly Appended[]): bigint | undefined {
  return row === undefined ? undefined : BigInt(row.id ?? 0);
}
