import { randomUUID } from "node:crypto";
import type { Database } from "@hlvm/postgres/database";
import type { Claim, Placement, PlacementStore } from "../../domain/placement/placement-store.ts";
import { LEASE_MILLISECONDS, LONE_LEASE_MILLISECONDS, type LeaseStore } from "../../domain/placement/replica-lease.ts";
import type { Owner } from "../../domain/receipts.ts";
import type { WorkspaceFolder } from "../../domain/workspace-folder.ts";

const SECONDS = `CASE
    WHEN EXISTS (SELECT FROM replica other WHERE other.name <> $1 AND other.lease_until > now()) THEN $5::float ELSE $6::float END`;
const REPLICA = `
  INSERT INTO replica AS r (name, address, incarnation, volume, lease_until)
  SELECT $1, $2, $3::uuid, $4, now() + make_interval(secs => ${SECONDS})`;
const LENGTH = `RETURNING ${SECONDS} * 1000 AS milliseconds`;

type LeaseRow = { milliseconds: number };

/** A day more than receipts are kept. */
const KEPT = "8 days";

export interface ReplicaFacts {
  readonly name: string;
  /** The id of the state directory. */
  readonly volume: string;
}

type ClaimRow = {
  outcome: Claim["outcome"];
  holder: string;
  address: string;
  epoch: string;
  workspace: string;
  receipts_elsewhere: boolean;
};
type PlacementRow = {
  organization: string;
  owner: string;
  replica: string;
  workspace: string;
  volume: string;
  epoch: string;
  receipts_elsewhere: boolean;
  address: string | null;
};

/** Leases and placements of all replicas, by the clock of the database alone. */
export class PostgresPlacements implements LeaseStore, PlacementStore {
  readonly #database: Database;
  readonly #replica: ReplicaFacts;
  readonly #incarnation = randomUUID();
  #address = "";

  constructor(database: Database, replica: ReplicaFacts) {
    this.#database = database;
    this.#replica = replica;
  }

  async register(address: string): Promise<number> {
    this.#address = address;
    const [row] = await this.#database.query<LeaseRow>(
      `${REPLICA}
       ON CONFLICT (name) DO UPDATE
       SET address = excluded.address, incarnation = excluded.incarnation, volume = excluded.volume, lease_until = excluded.lease_until
       ${LENGTH}`,
      this.#row(),
    );
    return row!.milliseconds;
  }

  async renew(knowsOthers: boolean): Promise<number | undefined> {
    const [row] = await this.#database.query<LeaseRow>(
      `${REPLICA}
       ON CONFLICT (name) DO UPDATE
       SET lease_until = CASE WHEN $7 THEN excluded.lease_until ELSE greatest(r.lease_until, excluded.lease_until) END
       WHERE r.incarnation = excluded.incarnation
       ${LENGTH}`,
      [...this.#row(), knowsOthers],
      "renew_lease",
    );
    return row?.milliseconds;
  }

  /** A renewal that was sent before and comes after it finds no lease of this process. */
  async release(): Promise<void> {
    await this.#database.query(
      "UPDATE replica SET lease_until = now(), incarnation = gen_random_uuid() WHERE name = $1 AND incarnation = $2",
      [this.#replica.name, this.#incarnation],
    );
  }

  async claim({ organization, id }: Owner, sessionId: string, { path, identity }: WorkspaceFolder): Promise<Claim> {
    const [row] = await this.#database.query<ClaimRow>(
      "SELECT * FROM claim_session($1, $2, $3, $4, $5, $6)",
      [sessionId, organization, id, this.#incarnation, path, identity],
      "claim_session",
    );
    const { outcome, holder, address, epoch, workspace, receipts_elsewhere: hasReceiptsElsewhere } = row!;
    if (outcome === "mine") return { outcome, hasReceiptsElsewhere };
    if (outcome === "elsewhere") return { outcome, holder: { address, epoch: BigInt(epoch) } };
    if (outcome === "bound") return { outcome, workspace };
    if (outcome === "unreachable") return { outcome, replica: holder };
    return { outcome };
  }

  async find(sessionId: string): Promise<Placement | undefined> {
    const [row] = await this.#database.query<PlacementRow>(
      `SELECT p.organization, p.owner, p.replica, p.workspace, p.volume, p.epoch, p.receipts_elsewhere, r.address
       FROM placement p LEFT JOIN replica r ON r.name = p.replica AND r.name <> $2 AND r.lease_until > now()
       WHERE p.session_id = $1`,
      [sessionId, this.#replica.name],
      "find_placement",
    );
    if (row === undefined) return undefined;
    const { organization, owner, replica, workspace, address } = row;
    return {
      owner: { organization, id: owner },
      replica,
      workspace,
      isHere: replica === this.#replica.name,
      ...(address === null ? {} : { holder: { address, epoch: BigInt(row.epoch) } }),
      hasReceiptsElsewhere: row.receipts_elsewhere || row.volume !== this.#replica.volume,
    };
  }

  async remove({ organization, id }: Owner, sessionId: string): Promise<void> {
    await this.#database.query(
      `DELETE FROM placement p WHERE session_id = $1 AND organization = $2 AND owner = $3
       AND NOT EXISTS (SELECT FROM replica r WHERE r.name = p.replica AND r.name <> $4 AND r.lease_until > now())`,
      [sessionId, organization, id, this.#replica.name],
      "remove_placement",
    );
  }

  async heldElsewhere(): Promise<ReadonlySet<string>> {
    const rows = await this.#database.query<{ session_id: string }>(
      "SELECT session_id FROM placement JOIN replica ON name = replica WHERE name <> $1 AND lease_until > now()",
      [this.#replica.name],
    );
    return new Set(rows.map(({ session_id: sessionId }) => sessionId));
  }

  async forgetExpired(withoutReceipts: readonly string[]): Promise<void> {
    await this.#database.query(
      `DELETE FROM placement p
       WHERE (session_id::text = ANY($1) OR used_at < now() - $3::interval)
       AND NOT EXISTS (SELECT FROM replica r WHERE r.name = p.replica AND r.name <> $2 AND r.lease_until > now())`,
      [withoutReceipts, this.#replica.name, KEPT],
    );
    await this.#database.query("DELETE FROM replica WHERE lease_until < now() - $1::interval", [KEPT]);
  }

  #row(): unknown[] {
    const { name, volume } = this.#replica;
    return [name, this.#address, this.#incarnation, volume, LEASE_MILLISECONDS / 1_000, LONE_LEASE_MILLISECONDS / 1_000];
  }
}
