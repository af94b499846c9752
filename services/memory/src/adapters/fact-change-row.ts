import type { Queries } from "@hlvm/postgres/database";
import type { FactChange, FactChangeKind } from "../domain/fact-change.ts";
import type { Fact } from "../domain/fact.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";

/** A row of table `fact_change` with what it undid. */
export interface FactChangeRow extends Record<string, unknown> {
  change_id: string;
  fact_id: string;
  kind: FactChangeKind;
  principal: string;
  session_id: string;
  run_id: string;
  call_id: string;
  changed_at: Date;
  undoes: string | null;
  undone_kind: FactChangeKind | null;
}

/** Of `change`, which is a row of `fact_change`. */
export const CHANGE_COLUMNS = `change.change_id, change.fact_id, change.kind, change.principal, change.session_id, change.run_id,
  change.call_id, change.changed_at, change.undoes,
  (SELECT undone.kind FROM fact_change AS undone WHERE undone.change_id = change.undoes) AS undone_kind`;

/** The changes with all facts that they touched. */
export async function changesOf(queries: Queries, rows: readonly FactChangeRow[]): Promise<FactChange[]> {
  const parts = await queries.query<FactRow & { change_id: string }>(
    `SELECT change_id, ${FACT_COLUMNS} FROM fact_change_part JOIN fact USING (fact_id) WHERE change_id = ANY($1::uuid[]) ORDER BY valid_from, fact_id`,
    [rows.map((row) => row.change_id)],
    "fact-change-parts",
  );
  const touched = Map.groupBy(parts, (part) => part.change_id);
  const apart = rows.filter((row) => !touched.get(row.change_id)?.some((part) => part.fact_id === row.fact_id));
  const others = await queries.query<FactRow>(
    `SELECT ${FACT_COLUMNS} FROM fact WHERE fact_id = ANY($1::uuid[])`,
    [apart.map((row) => row.fact_id)],
    "fact-change-facts",
  );
  const facts = new Map<string, Fact>([...parts, ...others].map((row) => [row.fact_id, factOf(row)]));
  return rows.map((row) => ({
    id: row.change_id,
    kind: row.kind,
    at: row.changed_at,
    principal: row.principal,
    sessionId: row.session_id,
    runId: row.run_id,
    callId: row.call_id,
    fact: facts.get(row.fact_id)!,
    others: (touched.get(row.change_id) ?? []).filter((part) => part.fact_id !== row.fact_id).map(factOf),
    undoes: row.undoes === null ? undefined : { id: row.undoes, kind: row.undone_kind! },
  }));
}
