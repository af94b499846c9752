import type { Queries } from "@hlvm/postgres/database";
import type { Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { CallAmounts, Reservation, SettledCall } from "../../domain/budget/budget-store.ts";
import type { DoorCall, DoorCallStore, SeenOfCall } from "../../domain/door/door-call-store.ts";
import { amountsByKind, reservationOf, type ReservedRow } from "./budget-rows.ts";

/** Calls touch theirs every few seconds. */
const LEASE_SECONDS = 30;

const BEGIN = `SELECT granted, is_refused, named FROM begin_door_call(
  ROW($1, $2, $3, $4::text[], $5, $6, $7, now(), now() + interval '${LEASE_SECONDS} seconds', $8, 0, $9)::door_call, $10, $11)`;
const TOUCH = `
  UPDATE door_call SET until = now() + interval '${LEASE_SECONDS} seconds', input_tokens = $2, output_tokens = $3, cost = $4
  WHERE call_id = $1`;

/** In PostgreSQL; what has to be one step is one function there (0019_door_calls.sql). */
export class PostgresDoorCalls implements DoorCallStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async begin(call: DoorCall, least: CallAmounts, most: CallAmounts): Promise<Reservation | Budget> {
    const { callId, organization, principal, teams, tokenId, door, model, seen } = call;
    const whose = [callId, organization, principal, teams, tokenId, door, model];
    const values = [...whose, seen.input.toString(), seen.cost?.toString() ?? null, ...amountsByKind(least, most)];
    const [row] = await this.#database.query<ReservedRow>(BEGIN, values, "begin_door_call");
    return reservationOf(row!);
  }

  async touch(callId: string, { input, output, cost }: SeenOfCall): Promise<void> {
    await this.#database.query(TOUCH, [callId, input.toString(), output.toString(), cost?.toString() ?? null], "touch_door_call");
  }

  async settle(callId: string, settled: SettledCall | undefined): Promise<void> {
    const json =
      settled === undefined ? null : JSON.stringify(settled, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
    await this.#database.query("SELECT settle_door_call($1, $2)", [callId, json], "settle_door_call");
  }

  async settleLost(): Promise<void> {
    const settle = async (): Promise<boolean> => {
      const sql = "SELECT settle_lost_door_call() AS is_settled";
      const [row] = await this.#database.query<{ is_settled: boolean }>(sql, [], "settle_lost_door_call");
      return row?.is_settled === true;
    };
    while (await settle());
  }
}
