import type { Queries } from "@hlvm/postgres/database";
import { audiencesOf } from "../domain/audience.ts";
import type { FactChange } from "../domain/fact-change.ts";
import type { FactFilter, Heads, Page, Place } from "../domain/fact-history.ts";
import type { Fact } from "../domain/fact.ts";
import type { Viewer } from "../domain/viewer.ts";
import { CHANGE_COLUMNS, changesOf, type FactChangeRow } from "./fact-change-row.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";

/** Behind every row. */
const FIRST: Place = { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

interface Placed {
  place_at: string;
}

/**
 * Facts and changes of a viewer, page by page. Each audience is read along its own index, and no further than a page goes; what is
 * seen row-level security decides.
 */
export class PostgresFactPages {
  readonly #queries: Queries;
  readonly #viewer: Viewer;

  constructor(queries: Queries, viewer: Viewer) {
    this.#queries = queries;
    this.#viewer = viewer;
  }

  async facts(filter: FactFilter, withEnded: boolean, limit: number, before: Place = FIRST): Promise<Page<Fact>> {
    const values: unknown[] = [audiencesOf(this.#viewer, filter.scope), before.at, before.id, limit + 1];
    const { principal, since, until } = filter;
    const written = [
      ["fact.owner =", principal || undefined] as const,
      ["valid_from >=", since] as const,
      ["valid_from <", until] as const,
    ];
    const narrowed = `${narrowing(filter, values)} ${conditions(written, values)}`;
    const rows = await this.#queries.query<FactRow & Placed>(
      `SELECT ${FACT_COLUMNS}, ${microseconds("valid_from")} FROM unnest($1::text[]) AS mine (audience) CROSS JOIN LATERAL (
         SELECT * FROM fact WHERE fact.audience = mine.audience AND (fact.valid_from, fact.fact_id) < ($2::timestamptz, $3::uuid)
           AND ${withEnded ? "fact.proposal" : "fact.valid_to"} IS NULL ${narrowed}
         ORDER BY fact.valid_from DESC, fact.fact_id DESC LIMIT $4
       ) AS found ORDER BY valid_from DESC, fact_id DESC LIMIT $4`,
      values,
    );
    const shown = rows.slice(0, limit);
    return { items: shown.map(factOf), end: endOf(rows.length > limit, shown.at(-1), "fact_id") };
  }

  async changes(filter: FactFilter, limit: number, before: Place = FIRST): Promise<Page<FactChange>> {
    const values: unknown[] = [audiencesOf(this.#viewer, filter.scope), before.at, before.id, limit + 1];
    const rows = await this.#queries.query<FactChangeRow & Placed>(
      `SELECT ${CHANGE_COLUMNS}, ${microseconds("change.changed_at")} FROM unnest($1::text[]) AS mine (audience) CROSS JOIN LATERAL (
         SELECT fact_change.* FROM fact_change
         WHERE fact_change.audience = mine.audience AND (changed_at, change_id) < ($2::timestamptz, $3::uuid) ${narrowingChanges(filter, "fact_change", values)}
         ORDER BY changed_at DESC, change_id DESC LIMIT $4
       ) AS change ORDER BY change.changed_at DESC, change.change_id DESC LIMIT $4`,
      values,
    );
    const shown = rows.slice(0, limit);
    return { items: await changesOf(this.#queries, shown), end: endOf(rows.length > limit, shown.at(-1), "change_id") };
  }

  async heads(): Promise<Heads> {
    const rows = await this.#queries.query<{ head: string }>(
      `SELECT coalesce((SELECT max(number) FROM fact_change WHERE fact_change.audience = mine.audience), 0)::text AS head
       FROM unnest($1::text[]) WITH ORDINALITY AS mine (audience, place) ORDER BY place`,
      [audiencesOf(this.#viewer)],
      "fact-heads",
    );
    return rows.map((row) => row.head);
  }

  async changesAfter(filter: FactFilter, heads: Heads, limit: number): Promise<{ changes: FactChange[]; heads: Heads }> {
    const values: unknown[] = [audiencesOf(this.#viewer), heads, limit];
    const rows = await this.#queries.query<FactChangeRow & { place: number; number: string; fits: boolean }>(
      `SELECT ${CHANGE_COLUMNS}, mine.place::int, change.number::text, true ${narrowingChanges(filter, "change", values)} AS fits
       FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS mine (audience, head, place) CROSS JOIN LATERAL (
         SELECT * FROM fact_change WHERE fact_change.audience = mine.audience AND number > mine.head ORDER BY number LIMIT $3
       ) AS change ORDER BY change.changed_at, mine.place, change.number`,
      values,
    );
    const next = [...heads];
    for (const row of rows) if (BigInt(row.number) > BigInt(next[row.place - 1]!)) next[row.place - 1] = row.number;
    const fitting = rows.filter((row) => row.fits);
    return { changes: fitting.length === 0 ? [] : await changesOf(this.#queries, fitting), heads: next };
  }
}

/** Each begins with AND; what is compared with is added to the values. */
function conditions(all: readonly (readonly [is: string, value: unknown])[], values: unknown[]): string {
  return all.flatMap(([is, value]) => (value === undefined ? [] : [`AND ${is} $${values.push(value)}`])).join(" ");
}

function narrowing({ origin, type, category, pinned }: FactFilter, values: unknown[]): string {
  const ofFact = [
    ["fact.origin =", origin] as const,
    ["fact.type =", type] as const,
    ["fact.category =", category || undefined] as const,
    ["fact.pinned =", pinned || undefined] as const,
  ];
  return conditions(ofFact, values);
}

/** On a row of `fact_change`; its fact is looked for only where they are about that. */
function narrowingChanges(filter: FactFilter, change: string, values: unknown[]): string {
  const { scope, principal, since, until } = filter;
  const ofChange = [
    [`${change}.scope =`, scope] as const,
    [`${change}.principal =`, principal || undefined] as const,
    [`${change}.changed_at >=`, since] as const,
    [`${change}.changed_at <`, until] as const,
  ];
  const made = conditions(ofChange, values);
  const ofFact = narrowing(filter, values);
  return ofFact === "" ? made : `${made} AND (SELECT true ${ofFact} FROM fact WHERE fact.fact_id = ${change}.fact_id)`;
}

function microseconds(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place_at`;
}

function endOf<Id extends string>(hasMore: boolean, last: (Placed & Record<Id, string>) | undefined, id: Id): Place | undefined {
  return hasMore && last !== undefined ? { at: last.place_at, id: last[id] } : undefined;
}
