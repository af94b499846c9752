import type { Queries } from "@hlvm/postgres/database";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { CallAmounts, Reservation, SettledCall } from "../../domain/budget/budget-store.ts";
import type { DoorCall, DoorCallStore, LostCall, SeenOfCall } from "../../domain/door/door-call-store.ts";
import { amountsByKind, reservationOf, type ReservedRow } from "./budget-rows.ts";

/** Calls touch theirs every few seconds. */
const LEASE_SECONDS = 30;

const BEGIN = `SELECT granted, is_refused, named FROM begin_door_call(
  ROW($1, $2, $3, $4::text[], $5, $6, $7, $8, now(), now() + interval '${LEASE_SECONDS} seconds', $9, 0, $10)::door_call, $11, $12)`;
const TOUCH = `
  UPDATE door_call SET until = now() + interval '${LEASE_SECONDS} seconds', input_tokens = $2, output_tokens = $3, cost = $4
  WHERE call_id = $1`;

/** For as long as it takes to settle it. */
const CLAIM_LOST = `
  WITH lost AS (SELECT call_id, until FROM door_call WHERE until < now() ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED)
  UPDATE door_call SET until = now() + interval '${LEASE_SECONDS} seconds' FROM lost WHERE door_call.call_id = lost.call_id
  RETURNING door_call.call_id, door, model, delegation, input_tokens, output_tokens, cost,
    round(extract(epoch FROM lost.until - began) * 1000)::float8 AS milliseconds`;

interface LostRow extends Record<string, unknown> {
  readonly call_id: string;
  readonly door: ModelDoor;
  readonly model: string;
  readonly delegation: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost: string | null;
  readonly milliseconds: number;
}

/** In PostgreSQL; what has to be one step is one function there (0019_door_calls.sql). */
export class PostgresDoorCalls implements DoorCallStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async begin(call: DoorCall, least: CallAmounts, most: CallAmounts): Promise<Reservation | Budget> {
    const { callId, organization, principal, teams, tokenId, door, model, delegation, seen } = call;
    const whose = [callId, organization, principal, teams, tokenId, door, model, delegation];
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

  async claimLost(): Promise<LostCall | undefined> {
    const [row] = await this.#database.query<LostRow>(CLAIM_LOST, [], "claim_lost_door_call");
    if (row === undefined) return undefined;
    const { call_id: callId, door, model, delegation, input_tokens: input, output_tokens: output, cost, milliseconds } = row;
    const seen = { input: BigInt(input), output: BigInt(output), ...(cost === null ? {} : { cost: BigInt(cost) }) };
    return { callId, door, model, delegation, seen, milliseconds };
  }
}
