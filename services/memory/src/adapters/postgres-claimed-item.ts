import type { Queries } from "@hlvm/postgres/database";
import type { SessionLabels } from "@hlvm/transcripts/labels/session-labels";
import type { EntityMention } from "../domain/entities/entity.ts";
import { MAXIMUM_ENTITIES } from "../domain/entities/find-entities.ts";
import type { ScopedFacts } from "../domain/fact-store.ts";
import type { ClaimedItem, PlacedFact, WorkClaim } from "../domain/model-work/model-work.ts";
import type { Turn } from "../domain/transcripts/transcript-store.ts";
import type { Viewer } from "../domain/viewer.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";
import { TURN_COLUMNS, turnOf, type TurnRow } from "./transcript-row.ts";

type PlacedRow = FactRow & { audience: string; text_key: string };

/** Within a transaction that has entered the viewer's scope and holds the item's row. */
export class PostgresClaimedItem implements ClaimedItem {
  readonly #queries: Queries;
  readonly #viewer: Viewer;
  readonly claimId: string;
  readonly itemId: string;
  readonly kind: WorkClaim["kind"];
  readonly project: string;
  readonly facts: ScopedFacts;

  constructor(queries: Queries, viewer: Viewer, { claimId, itemId, kind, project }: WorkClaim, facts: ScopedFacts) {
    this.#queries = queries;
    this.#viewer = viewer;
    this.claimId = claimId;
    this.itemId = itemId;
    this.kind = kind;
    this.project = project;
    this.facts = facts;
  }

  async turns(): Promise<(Turn & { readonly id: string })[]> {
    const sql = `SELECT turn_id, ${TURN_COLUMNS} FROM transcript_turn WHERE transcript_id = $1 ORDER BY ordinal, turn_id`;
    const rows = await this.#queries.query<TurnRow & { turn_id: string }>(sql, [this.itemId], "model-work-turns");
    return rows.map((row) => ({ ...turnOf(row), id: row.turn_id }));
  }

  fact(): Promise<PlacedFact | undefined> {
    return this.#placed("model-work-fact", "fact_id = $1 AND slot = ''", [this.itemId]);
  }

  otherInSlot({ fact, audience }: PlacedFact, slot: string): Promise<PlacedFact | undefined> {
    return this.#placed("model-work-slot", "audience = $1 AND (slot = $2 OR found_slot = $2) AND fact_id <> $3", [audience, slot, fact.id]);
  }

  async putLabels({ label, summary, status, decisions, openQuestions, entities }: SessionLabels, model: string): Promise<void> {
    const { organization, principal } = this.#viewer;
    await this.#queries.query(
      `INSERT INTO session_label (transcript_id, organization, owner, label, summary, status, decisions, open_questions, entities, model)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (transcript_id) DO UPDATE SET label = $4, summary = $5, status = $6, decisions = $7, open_questions = $8, entities = $9,
         model = $10, labelled_at = now()`,
      [this.itemId, organization, principal, label, summary, status, decisions, openQuestions, entities, model],
      "session-label-put",
    );
  }

  async putMentions(itemId: string, mentions: readonly EntityMention[], model: string): Promise<void> {
    await this.#queries.query("DELETE FROM entity_mention WHERE item_id = $1 AND found_by <> ''", [itemId], "found-mentions-remove");
    if (mentions.length === 0) return;
    const isFact = this.kind === "fact";
    // Whose it is the item says.
    const item = isFact
      ? "SELECT organization, owner, project, scope, coalesce(said_at, valid_from) AS at FROM fact WHERE fact_id = $1"
      : "SELECT organization, owner, '' AS project, 'personal' AS scope, coalesce(said_at, now()) AS at FROM transcript_turn WHERE turn_id = $1";
    await this.#queries.query(
      `INSERT INTO entity_mention (item_id, item_kind, organization, owner, project, scope, kind, key, name, role, mentioned_at, found_by)
       SELECT $1, $2, item.organization, item.owner, item.project, item.scope, found.kind, found.key, found.name, found.role, item.at, $4
       FROM (${item}) AS item, jsonb_to_recordset($3::jsonb) AS found (kind text, key text, name text, role text)
       WHERE NOT EXISTS (SELECT FROM entity_mention AS known WHERE known.item_id = $1 AND known.key = found.key)
       ORDER BY found.kind, found.key LIMIT ${MAXIMUM_ENTITIES} ON CONFLICT DO NOTHING`,
      [itemId, isFact ? "fact" : "turn", JSON.stringify(mentions), model],
      isFact ? "found-in-fact" : "found-in-turn",
    );
  }

  async putFoundSlot({ subject, predicate, slot }: { subject: string; predicate: string; slot: string }, model: string): Promise<void> {
    await this.#queries.query(
      "UPDATE fact SET found_subject = $2, found_predicate = $3, found_slot = $4, found_by = $5 WHERE fact_id = $1",
      [this.itemId, subject, predicate, slot, model],
      "found-slot-put",
    );
  }

  async finish(): Promise<void> {
    await this.#queries.query("DELETE FROM model_work WHERE item_id = $1", [this.itemId], "model-work-finish");
  }

  async refuse(why: string): Promise<void> {
    await this.#queries.query(
      "UPDATE model_work SET refusals = refusals + 1, refusal = $2, claim_id = NULL, claimed_until = NULL WHERE item_id = $1",
      [this.itemId, why],
      "model-work-refuse",
    );
  }

  async #placed(name: string, where: string, values: readonly unknown[]): Promise<PlacedFact | undefined> {
    const [row] = await this.#queries.query<PlacedRow>(
      `SELECT ${FACT_COLUMNS}, audience, text_key FROM fact WHERE ${where} AND valid_to IS NULL ORDER BY valid_from DESC, fact_id LIMIT 1`,
      values,
      name,
    );
    return row && { fact: factOf(row), audience: row.audience, textKey: row.text_key };
  }
}
