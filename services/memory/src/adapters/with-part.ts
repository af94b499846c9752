import { FACT_COLUMNS } from "./fact-row.ts";

/** Changes the fact $1 as part of the change $2. */
export function withPart(assignments: string): string {
  return `WITH old AS (
      SELECT fact_id, proposal, ROW(pinned, valid_to, superseded_by)::fact_state AS was FROM fact WHERE fact_id = $1
    ), changed AS (UPDATE fact SET ${assignments} WHERE fact_id = $1 RETURNING *),
    part AS (
      INSERT INTO fact_change_part (change_id, fact_id, was, became, was_proposal, became_proposal)
      SELECT $2, fact_id, was, ROW(pinned, valid_to, superseded_by)::fact_state, old.proposal, changed.proposal
      FROM changed JOIN old USING (fact_id)
    )
    SELECT ${FACT_COLUMNS} FROM changed`;
}
