import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { TrustedFile, TrustedWorkspace, Truster, TrustStore } from "../../domain/trust/trust-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const MAXIMUM_LISTED = 1_000;

const FIND = `
  SELECT workspace, files, trusted_at FROM workspace_trust
  WHERE organization = $1 AND principal = $2 AND workspace = $3`;

const LIST = `
  SELECT workspace, trusted_at,
    (SELECT jsonb_agg(file - 'text' ORDER BY place) FROM jsonb_array_elements(files) WITH ORDINALITY AS one (file, place)) AS files
  FROM workspace_trust WHERE organization = $1 AND principal = $2
  ORDER BY trusted_at DESC, workspace LIMIT ${MAXIMUM_LISTED}`;

const PUT = `
  WITH trusted AS (
    INSERT INTO workspace_trust (organization, principal, workspace, files) VALUES ($1, $2, $3, $4::jsonb)
    ON CONFLICT (organization, principal, workspace) DO UPDATE SET files = excluded.files, trusted_at = now()
    RETURNING workspace, files, trusted_at
  )
  SELECT trusted.*, ${appendEvent(5)} FROM trusted`;

const REMOVE = `
  WITH removed AS (
    DELETE FROM workspace_trust WHERE organization = $1 AND principal = $2 AND workspace = $3 RETURNING workspace
  )
  SELECT ${appendEvent(4)} FROM removed`;

type TrustRow = { readonly workspace: string; readonly files: Partial<TrustedFile>[]; readonly trusted_at: Date };

/** What people trust, in PostgreSQL; the event that belongs to a change is appended by the statement that makes it. */
export class PostgresTrustStore implements TrustStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find({ organization, id }: Truster, workspace: string): Promise<TrustedWorkspace | undefined> {
    const [row] = await this.#database.query<TrustRow>(FIND, [organization, id, workspace], "find_trust");
    return row === undefined ? undefined : trustedOf(row);
  }

  async list({ organization, id }: Truster): Promise<TrustedWorkspace[]> {
    const rows = await this.#database.query<TrustRow>(LIST, [organization, id], "list_trust");
    return rows.map(trustedOf);
  }

  async put({ organization, id }: Truster, workspace: string, files: readonly TrustedFile[], event: AuditEvent): Promise<TrustedWorkspace> {
    const kept = files.map(({ path, sha256, text }) => ({ path, sha256, text }));
    const values = [organization, id, workspace, JSON.stringify(kept), recordOf(event)];
    const [row] = await this.#database.query<TrustRow>(PUT, values, "put_trust");
    return trustedOf(row!);
  }

  async remove({ organization, id }: Truster, workspace: string, event: AuditEvent): Promise<boolean> {
    return (await this.#database.query(REMOVE, [organization, id, workspace, recordOf(event)], "remove_trust")).length > 0;
  }
}

function trustedOf({ workspace, files, trusted_at: trustedAt }: TrustRow): TrustedWorkspace {
  return { workspace, files: files.map(({ path = "", sha256 = "", text = "" }) => ({ path, sha256, text })), trustedAt };
}
