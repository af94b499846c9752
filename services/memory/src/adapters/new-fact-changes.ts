import type { Queries } from "@hlvm/postgres/database";
import type { FactChangeKind } from "../domain/fact-change.ts";
import type { Viewer } from "../domain/viewer.ts";

interface NewChange {
  readonly changeId: string;
  readonly factId: string;
  readonly kind: FactChangeKind;
  readonly undoes: string | undefined;
}

/** Facts that are new and changes that are done, on their way into the history: written together, since an import makes hundreds of them. */
export class NewFactChanges {
  readonly #queries: Queries;
  readonly #viewer: Viewer;
  #facts: { changeId: string; factId: string }[] = [];
  #changes: NewChange[] = [];

  constructor(queries: Queries, viewer: Viewer) {
    this.#queries = queries;
    this.#viewer = viewer;
  }

  addFact(changeId: string, factId: string): void {
    this.#facts.push({ changeId, factId });
  }

  addChange(change: NewChange): void {
    this.#changes.push(change);
  }

  /** Before anything of it is read, or changed once more, and before the transaction ends. */
  async write(): Promise<void> {
    const [facts, changes] = [this.#facts, this.#changes];
    [this.#facts, this.#changes] = [[], []];
    if (facts.length > 0) await this.#writeFacts(facts);
    if (changes.length > 0) await this.#writeChanges(changes);
  }

  async #writeFacts(facts: readonly { changeId: string; factId: string }[]): Promise<void> {
    await this.#queries.query(
      `INSERT INTO fact_change_part (change_id, fact_id, became, became_proposal)
       SELECT change_id, fact_id, ROW(pinned, valid_to, superseded_by)::fact_state, proposal
       FROM unnest($1::uuid[], $2::uuid[]) AS new (change_id, fact_id) JOIN fact USING (fact_id)`,
      [facts.map(({ changeId }) => changeId), facts.map(({ factId }) => factId)],
      "fact-change-new",
    );
  }

  /** Whoever makes changes holds the lock of their audience: its numbers go on without gaps. */
  async #writeChanges(changes: readonly NewChange[]): Promise<void> {
    const { sessionId = "", runId = "", callId = "" } = this.#viewer.call ?? {};
    await this.#queries.query(
      `WITH made AS (
         SELECT change_id, fact_id, kind, undoes, place, organization, owner, project, scope, audience
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) WITH ORDINALITY AS made (change_id, fact_id, kind, undoes, place)
         JOIN fact USING (fact_id)
       ), head AS MATERIALIZED (
         SELECT audience, (SELECT number FROM fact_change WHERE fact_change.audience = audiences.audience ORDER BY number DESC LIMIT 1) AS number
         FROM (SELECT DISTINCT audience FROM made) AS audiences
       )
       INSERT INTO fact_change (change_id, organization, owner, project, scope, audience, number, fact_id, kind, principal, session_id,
         run_id, call_id, undoes)
       SELECT change_id, organization, owner, project, scope, audience,
         coalesce(head.number, 0) + row_number() OVER (PARTITION BY audience ORDER BY place), fact_id, kind, $5, $6, $7, $8, undoes
       FROM made JOIN head USING (audience) ORDER BY place`,
      [
        changes.map(({ changeId }) => changeId),
        changes.map(({ factId }) => factId),
        changes.map(({ kind }) => kind),
        changes.map(({ undoes = null }) => undoes),
        this.#viewer.principal,
        sessionId,
        runId,
        callId,
      ],
      "fact-change-record",
    );
  }
}
