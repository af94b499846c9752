import { randomUUID } from "node:crypto";
import type { Queries } from "@hlvm/postgres/database";
import type { FactChange, FactChangeKind } from "../domain/fact-change.ts";
import type { FactHistory } from "../domain/fact-history.ts";
import type { Viewer } from "../domain/viewer.ts";
import { CHANGE_COLUMNS, changesOf, type FactChangeRow } from "./fact-change-row.ts";
import { PostgresFactPages } from "./postgres-fact-pages.ts";
import { NewFactChanges } from "./new-fact-changes.ts";
import { THREAD_OF_FACT } from "./thread-of-fact.sql.ts";

/** What was done to facts, within a transaction that has entered the viewer's scope; a transaction makes one change, or one after the other. */
export class PostgresFactHistory extends PostgresFactPages implements FactHistory {
  readonly #queries: Queries;
  readonly #new: NewFactChanges;
  readonly #onTouched: (factId: string) => void;
  /** Of the change that is being made. */
  #changeId = randomUUID();

  constructor(queries: Queries, viewer: Viewer, onTouched: (factId: string) => void) {
    super(queries, viewer);
    this.#queries = queries;
    this.#new = new NewFactChanges(queries, viewer);
    this.#onTouched = onTouched;
  }

  get changeId(): string {
    return this.#changeId;
  }

  beginChange(): void {
    this.#changeId = randomUUID();
  }

  /** A fact that was not there before is part of the change. */
  addNew(factId: string): void {
    this.#new.addFact(this.changeId, factId);
  }

  record(kind: FactChangeKind, factId: string, undoes?: string): string {
    this.#new.addChange({ changeId: this.changeId, factId, kind, undoes });
    return this.changeId;
  }

  /** What is to be changed again has its place in the history first. */
  write(): Promise<void> {
    return this.#new.write();
  }

  async find(changeId: string): Promise<FactChange | undefined> {
    const [change] = await this.#changes("fact-change-find", "WHERE change.change_id = $1", [changeId]);
    return change;
  }

  async latestOf(factIds: readonly string[]): Promise<FactChange | undefined> {
    const touching = "WHERE change.change_id IN (SELECT change_id FROM fact_change_part WHERE fact_id = ANY($1::uuid[]))";
    const [latest] = await this.#changes("fact-change-latest", `${touching} ORDER BY change.number DESC LIMIT 1`, [factIds]);
    return latest;
  }

  async threadOf(factId: string, limit: number): Promise<FactChange[]> {
    return this.#changes(
      "fact-thread",
      `WHERE change.change_id IN (
         SELECT change_id FROM fact_change_part WHERE fact_id IN (${THREAD_OF_FACT})
       ) ORDER BY change.number DESC LIMIT $2`,
      [factId, limit],
    );
  }

  async revert(changeId: string): Promise<"done" | "changed" | "taken"> {
    await this.write();
    const [blocked] = await this.#queries.query<{ is_changed: boolean; is_taken: boolean }>(
      `SELECT coalesce(bool_or(became IS DISTINCT FROM ROW(fact.pinned, fact.valid_to, fact.superseded_by)::fact_state
           OR became_proposal IS DISTINCT FROM fact.proposal), true) AS is_changed,
         coalesce(bool_or((was).pinned IS NOT NULL AND (was).valid_to IS NULL AND EXISTS (
           SELECT FROM fact AS taker
           WHERE taker.audience = fact.audience AND taker.slot = fact.slot AND taker.valid_to IS NULL
             AND (taker.slot <> '' OR taker.text_key = fact.text_key)
             AND taker.fact_id NOT IN (SELECT fact_id FROM fact_change_part WHERE change_id = $1)
         )), false) AS is_taken
       FROM fact_change_part JOIN fact USING (fact_id) WHERE change_id = $1`,
      [changeId],
      "fact-revert-check",
    );
    if (blocked!.is_changed) return "changed";
    if (blocked!.is_taken) return "taken";
    // What ends first makes room for what holds again.
    for (const holds of [false, true]) {
      const reverted = await this.#queries.query<{ fact_id: string }>(
        `WITH part AS (
           SELECT fact_id, became, (was).pinned IS NULL AS was_new, was, was_proposal, became_proposal FROM fact_change_part WHERE change_id = $1
         ), changed AS (
           UPDATE fact SET pinned = CASE WHEN was_new THEN fact.pinned ELSE (was).pinned END,
             valid_to = CASE WHEN NOT was_new THEN (was).valid_to WHEN fact.valid_to IS NULL THEN greatest(now(), fact.valid_from)
               ELSE fact.valid_to END,
             superseded_by = (was).superseded_by,
             proposal = CASE WHEN NOT was_new THEN was_proposal WHEN fact.proposal IS NOT NULL THEN 'rejected' END
           FROM part WHERE part.fact_id = fact.fact_id AND (NOT was_new AND (was).valid_to IS NULL) = $3
           RETURNING fact.fact_id, became, became_proposal, ROW(fact.pinned, fact.valid_to, fact.superseded_by)::fact_state AS now_is,
             fact.proposal
         )
         INSERT INTO fact_change_part (change_id, fact_id, was, became, was_proposal, became_proposal)
         SELECT $2, fact_id, became, now_is, became_proposal, proposal FROM changed RETURNING fact_id`,
        [changeId, this.changeId, holds],
        "fact-revert",
      );
      for (const { fact_id: factId } of reverted) this.#onTouched(factId);
    }
    return "done";
  }

  async #changes(name: string, condition: string, values: readonly unknown[]): Promise<FactChange[]> {
    await this.write();
    const sql = `SELECT ${CHANGE_COLUMNS} FROM fact_change AS change ${condition}`;
    return changesOf(this.#queries, await this.#queries.query<FactChangeRow>(sql, values, name));
  }
}
