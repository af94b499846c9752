import type { Queries } from "@hlvm/postgres/database";
import { audiencesOf } from "../domain/audience.ts";
import type { Fact, FactScope } from "../domain/fact.ts";
import type { ProposedPlace, Proposals } from "../domain/proposals.ts";
import type { Viewer } from "../domain/viewer.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";
import type { PostgresFactHistory } from "./postgres-fact-history.ts";
import { withPart } from "./with-part.ts";

type OpenChange = Pick<PostgresFactHistory, "changeId" | "write">;

/** The inbox, within a transaction that has entered the viewer's scope. */
export class PostgresProposals implements Proposals {
  readonly #queries: Queries;
  readonly #viewer: Viewer;
  readonly #change: OpenChange;

  constructor(queries: Queries, viewer: Viewer, change: OpenChange) {
    this.#queries = queries;
    this.#viewer = viewer;
    this.#change = change;
  }

  async same(
    { audience, slot, textKey }: { readonly audience: string; readonly slot: string; readonly textKey: string },
    { of, ends }: ProposedPlace,
  ): Promise<Fact | undefined> {
    const [row] = await this.#queries.query<FactRow>(
      `SELECT ${FACT_COLUMNS} FROM fact WHERE audience = $1 AND proposal = 'waiting' AND slot = $2 AND text_key = $3
         AND proposal_of IS NOT DISTINCT FROM nullif($4, '')::uuid AND proposes_end = $5 LIMIT 1`,
      [audience, slot, textKey, of, ends],
      "proposal-same",
    );
    return row && factOf(row);
  }

  async countOwn(audience: string, limit: number): Promise<number> {
    const [row] = await this.#queries.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM (SELECT FROM fact WHERE audience = $1 AND proposal = 'waiting' AND owner = $2 LIMIT $3) AS counted",
      [audience, this.#viewer.principal, limit],
      "proposal-count",
    );
    return row!.count;
  }

  async waiting(scope: FactScope | undefined, limit: number): Promise<Fact[]> {
    const rows = await this.#queries.query<FactRow>(
      `SELECT ${FACT_COLUMNS} FROM fact WHERE audience = ANY($1) AND proposal = 'waiting' ORDER BY valid_from, fact_id LIMIT $2`,
      [audiencesOf(this.#viewer, scope), limit],
      "proposal-list",
    );
    return rows.map(factOf);
  }

  async settle(id: string, state: "accepted" | "rejected"): Promise<Fact> {
    await this.#change.write();
    const [row] = await this.#queries.query<FactRow>(withPart("proposal = $3"), [id, this.#change.changeId, state], "proposal-settle");
    return factOf(row!);
  }
}
