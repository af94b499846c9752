import type { Database } from "@hlvm/postgres/database";
import type { ApprovalState } from "../../domain/approval/approval.ts";
import type { ApprovalFilter, ApprovalPage, AskedPage } from "../../domain/approval/approval-store.ts";
import { APPROVAL_COLUMNS, approvalOf, IS_PENDING, type ApprovalRow } from "./approval-row.ts";

/** A single call's arguments may have as much. */
const PAGE_BYTES = 4 * 1024 * 1024;

const OF_STATE: Readonly<Record<ApprovalState, string>> = {
  pending: IS_PENDING,
  approved: "answer IN ('once', 'session')",
  denied: "answer = 'deny'",
  expired: "answer IS NULL AND withdrawn_at IS NULL AND expires_at <= now()",
  withdrawn: "answer IS NULL AND withdrawn_at IS NOT NULL",
};

type PageRow = ApprovalRow & { readonly found: string };

/** A page by the time and id of the approval that ended the one before: what is asked meanwhile moves nothing. */
export async function readApprovalPage(
  database: Database,
  organization: string,
  filter: ApprovalFilter,
  { size, after, newestFirst }: AskedPage,
): Promise<ApprovalPage> {
  const values: unknown[] = [organization];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [`organization = $1`, `(${filter.states.map((state) => `(${OF_STATE[state]})`).join(" OR ")})`];
  const equal = (column: string, value: unknown): void => {
    if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
  };
  equal("session_id", filter.sessionId);
  equal("tool", filter.tool);
  equal("safety_level", filter.safetyLevel);
  equal("requested_by", filter.requestedBy);
  equal("requested_by", filter.ownedBy);
  equal("answered_by", filter.answeredBy);
  if (filter.since !== undefined) conditions.push(`requested_at >= ${parameter(filter.since)}`);
  if (filter.before !== undefined) conditions.push(`requested_at < ${parameter(filter.before)}`);
  if (after !== undefined)
    conditions.push(`(requested_at, approval_id) ${newestFirst ? "<" : ">"} (
      SELECT requested_at, approval_id FROM approval WHERE organization = $1 AND approval_id = ${parameter(after)})`);
  const order = newestFirst ? "requested_at DESC, approval_id DESC" : "requested_at, approval_id";
  const rows = await database.query<PageRow>(
    `SELECT ${APPROVAL_COLUMNS}, found FROM (
      SELECT *, sum(octet_length(arguments_json)) OVER (ORDER BY ${order}) AS bytes, row_number() OVER (ORDER BY ${order}) AS place,
        count(*) OVER () AS found
      FROM (SELECT * FROM approval WHERE ${conditions.join(" AND ")} ORDER BY ${order} LIMIT ${parameter(size + 1)}) AS wanted
    ) AS placed WHERE place <= ${parameter(size)} AND (place = 1 OR bytes <= ${PAGE_BYTES}) ORDER BY place`,
    values,
  );
  return { approvals: rows.map(approvalOf), hasMore: Number(rows[0]?.found ?? 0) > rows.length };
}
