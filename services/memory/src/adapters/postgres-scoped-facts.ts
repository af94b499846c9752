import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Queries } from "@hlvm/postgres/database";
import { audiencesOf } from "../domain/audience.ts";
import type { Fact } from "../domain/fact.ts";
import type { CallReference, FactToInsert, ScopedFacts, TextKey } from "../domain/fact-store.ts";
import type { Proposals } from "../domain/proposals.ts";
import type { ToolOutcome } from "../domain/tool-outcome.ts";
import type { Viewer } from "../domain/viewer.ts";
import { ENTITIES_VERSION } from "../domain/entities/item-mentions.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";
import { SEARCHED_FACT_COLUMNS, factSearchItem, type SearchedFactRow } from "./fact-search-item.ts";
import { PostgresEntityMentions } from "./postgres-entity-mentions.ts";
import { PostgresFactHistory } from "./postgres-fact-history.ts";
import { PostgresProposals } from "./postgres-proposals.ts";
import { PostgresSearch } from "./postgres-search.ts";
import { PostgresSearchItems } from "./postgres-search-items.ts";
import { withPart } from "./with-part.ts";

/** Facts within a transaction that has entered the viewer's scope; the audiences only lead to the index on them. */
export class PostgresScopedFacts implements ScopedFacts {
  readonly #queries: Queries;
  readonly #viewer: Viewer;
  readonly #audiences: readonly string[];
  readonly history: PostgresFactHistory;
  readonly proposals: Proposals;
  readonly search: PostgresSearch;
  readonly #locked = new Set<string>();
  /** Texts that no valid fact has. */
  readonly #absent = new Set<string>();
  /** Facts that were changed, and have to be found as they are now. */
  readonly #touched = new Set<string>();
  /** Facts and proposals that are new: what they speak of never changes. */
  readonly #written = new Set<string>();

  constructor(queries: Queries, viewer: Viewer) {
    this.#queries = queries;
    this.#viewer = viewer;
    this.#audiences = audiencesOf(viewer);
    this.history = new PostgresFactHistory(queries, viewer, (id) => this.#touched.add(id));
    this.search = new PostgresSearch(queries);
    this.proposals = new PostgresProposals(queries, viewer, this.history);
  }

  /**
   * Writes the history, and has what was changed be found as it is now, and by what it speaks of, all at once before the transaction
   * commits. A fact that ended left the search items by a trigger.
   * @returns whether anything is left for the index
   */
  async finish(): Promise<boolean> {
    await this.history.write();
    const ids = [...new Set([...this.#touched, ...this.#written])];
    if (ids.length === 0) return false;
    const sql = `SELECT ${SEARCHED_FACT_COLUMNS}, valid_to IS NULL AS holds FROM fact WHERE fact_id = ANY($1::uuid[])`;
    const rows = await this.#queries.query<SearchedFactRow & { holds: boolean }>(sql, [ids], "search-fact");
    const written = rows.filter((row) => this.#written.has(row.fact_id));
    await new PostgresEntityMentions().putFacts(this.#queries, written);
    if (this.#touched.size === 0) return false;
    await this.#queries.query("INSERT INTO outbox (fact_id) SELECT unnest($1::uuid[])", [[...this.#touched]], "outbox-feed");
    const holding = rows.filter((row) => row.holds && this.#touched.has(row.fact_id));
    await new PostgresSearchItems().put(this.#queries, holding.map(factSearchItem));
    return true;
  }

  async lock(audience: string): Promise<void> {
    if (this.#locked.has(audience)) return;
    this.#locked.add(audience);
    await this.#queries.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [audience], "fact-lock");
  }

  async find(id: string): Promise<Fact | undefined> {
    return this.#one("fact-find", `SELECT ${FACT_COLUMNS} FROM fact WHERE fact_id = $1`, [id]);
  }

  async lookAhead(texts: readonly TextKey[]): Promise<void> {
    const there = await this.#queries.query<{ audience: string; slot: string; text_key: string }>(
      `SELECT audience, slot, text_key FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (audience, slot, text_key), LATERAL (
         SELECT FROM fact WHERE fact.audience = wanted.audience AND fact.slot = wanted.slot AND fact.text_key = wanted.text_key
           AND valid_to IS NULL OFFSET 0
       ) AS found`,
      [texts.map(({ audience }) => audience), texts.map(({ slot }) => slot), texts.map(({ textKey }) => textKey)],
      "fact-look-ahead",
    );
    for (const text of texts) this.#absent.add(nameOf(text));
    for (const { audience, slot, text_key: textKey } of there) this.#absent.delete(nameOf({ audience, slot, textKey }));
  }

  async inSlot(audience: string, slot: string): Promise<Fact | undefined> {
    const sql = `SELECT ${FACT_COLUMNS} FROM fact WHERE audience = $1 AND slot = $2 AND slot <> '' AND valid_to IS NULL`;
    return this.#one("fact-in-slot", sql, [audience, slot]);
  }

  async sameText(audience: string, slot: string, textKeys: readonly string[]): Promise<Fact | undefined> {
    if (textKeys.every((textKey) => this.#absent.has(nameOf({ audience, slot, textKey })))) return undefined;
    const sql = `SELECT ${FACT_COLUMNS} FROM fact WHERE audience = $1 AND slot = $2 AND text_key = ANY($3) AND valid_to IS NULL ORDER BY valid_from LIMIT 1`;
    return this.#one("fact-same-text", sql, [audience, slot, textKeys]);
  }

  async insert(fact: FactToInsert): Promise<Fact> {
    const values = {
      fact_id: fact.id,
      organization: this.#viewer.organization,
      owner: this.#viewer.principal,
      project: fact.project,
      scope: fact.scope,
      audience: fact.audience,
      text: fact.text,
      text_key: fact.textKey,
      stems: fact.stems.join(" "),
      category: fact.category,
      type: fact.type,
      origin: fact.origin,
      subject: fact.subject,
      predicate: fact.predicate,
      slot: fact.slot,
      tags: fact.tags,
      pinned: fact.pinned,
      source_session_id: fact.sourceSessionId,
      actor: fact.actor,
      source_ordinal: fact.sourceOrdinal,
      said_at: fact.saidAt,
      validated_at: fact.validatedAt,
      entities_version: ENTITIES_VERSION,
    };
    const { proposal } = fact;
    const all =
      proposal === undefined ? values : { ...values, proposal_of: proposal.of || null, proposes_end: proposal.ends, proposal: "waiting" };
    const places = Object.keys(all).map((_, position) => `$${position + 1}`);
    // A proposal never holds.
    const validTo = proposal === undefined ? "NULL" : "now()";
    const sql = `INSERT INTO fact (${Object.keys(all).join(", ")}, valid_to) VALUES (${places.join(", ")}, ${validTo}) RETURNING ${FACT_COLUMNS}`;
    const inserted = await this.#changed(proposal === undefined ? "fact-insert" : "fact-propose", sql, Object.values(all));
    this.#absent.delete(nameOf(fact));
    this.history.addNew(fact.id);
    this.#written.add(fact.id);
    if (proposal === undefined) this.#touched.add(fact.id);
    return inserted;
  }

  async end(id: string, supersededBy: string): Promise<Fact> {
    await this.history.write();
    const sql = withPart("valid_to = greatest(now(), valid_from), superseded_by = nullif($3, '')::uuid");
    const ended = await this.#changed("fact-end", sql, [id, this.history.changeId, supersededBy]);
    this.#touched.add(id);
    return ended;
  }

  async setPinned(id: string, pinned: boolean): Promise<Fact> {
    await this.history.write();
    return this.#changed("fact-pin", withPart("pinned = $3"), [id, this.history.changeId, pinned]);
  }

  async pinned(limit: number): Promise<Fact[]> {
    const sql = `SELECT ${FACT_COLUMNS} FROM fact WHERE audience = ANY($1) AND valid_to IS NULL AND pinned ORDER BY valid_from DESC, fact_id LIMIT $2`;
    return (await this.#queries.query<FactRow>(sql, [this.#audiences, limit], "fact-pinned")).map(factOf);
  }

  async count(limit: number): Promise<number> {
    const sql = "SELECT count(*)::int AS count FROM (SELECT FROM fact WHERE audience = ANY($1) AND valid_to IS NULL LIMIT $2) AS counted";
    const [row] = await this.#queries.query<{ count: number }>(sql, [this.#audiences, limit], "fact-count");
    return row!.count;
  }

  async waiting(limit: number): Promise<string[]> {
    const sql = "SELECT fact_id FROM outbox WHERE audience = ANY($1) ORDER BY outbox_id DESC LIMIT $2";
    return (await this.#queries.query<{ fact_id: string }>(sql, [this.#audiences, limit], "outbox-waiting")).map((row) => row.fact_id);
  }

  async load(ids: readonly string[]): Promise<Fact[]> {
    // One look for each: planned before anything is known of the table, all facts of the organization were read.
    const sql = `SELECT ${FACT_COLUMNS} FROM unnest($1::uuid[]) AS wanted (id),
      LATERAL (SELECT * FROM fact WHERE fact.fact_id = wanted.id AND valid_to IS NULL OFFSET 0) AS fact`;
    return (await this.#queries.query<FactRow>(sql, [ids], "fact-load")).map(factOf);
  }

  async claimCall(call: CallReference): Promise<ToolOutcome | undefined> {
    const key = [this.#viewer.organization, call.sessionId, call.callId];
    const claimed = await this.#queries.query(
      `INSERT INTO tool_receipt (organization, session_id, call_id, owner, arguments_hash) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING RETURNING true`,
      [...key, this.#viewer.principal, call.argumentsHash],
      "receipt-claim",
    );
    if (claimed.length > 0) return undefined;
    const [receipt] = await this.#queries.query<{ result: ToolOutcome }>(
      "SELECT result FROM tool_receipt WHERE organization = $1 AND session_id = $2 AND call_id = $3 AND arguments_hash = $4",
      [...key, call.argumentsHash],
      "receipt-find",
    );
    if (receipt !== undefined) return receipt.result;
    throw new HlvmError({
      code: "failed_precondition",
      reason: "call_id_reused",
      message: `Call ${call.callId} of this session was made before, with other arguments.`,
      advice: "Give every tool call an id of its own.",
    });
  }

  async keepOutcome(call: CallReference, outcome: ToolOutcome): Promise<void> {
    await this.#queries.query(
      "UPDATE tool_receipt SET result = $4 WHERE organization = $1 AND session_id = $2 AND call_id = $3",
      [this.#viewer.organization, call.sessionId, call.callId, JSON.stringify(outcome)],
      "receipt-keep",
    );
  }

  async #one(name: string, sql: string, values: readonly unknown[]): Promise<Fact | undefined> {
    const [row] = await this.#queries.query<FactRow>(sql, values, name);
    return row === undefined ? undefined : factOf(row);
  }

  async #changed(name: string, sql: string, values: readonly unknown[]): Promise<Fact> {
    const changed = await this.#one(name, sql, values);
    if (changed !== undefined) return changed;
    throw new HlvmError({
      code: "not_found",
      reason: "fact_not_found",
      message: "The fact is not in your scope.",
      advice: "Search again.",
    });
  }
}

function nameOf({ audience, slot, textKey }: TextKey): string {
  return [audience, slot, textKey].join(" ");
}
