import type { AuditFilter } from "../../domain/audit/audit-log.ts";

const ARGUMENTS = "event.payload::jsonb->>'arguments'";
const TEXT_FIELDS = [ARGUMENTS, "event.payload::jsonb->>'rule'", "event.payload::jsonb->>'reason'"].concat([
  "event.payload::jsonb->>'summary'",
  "outcome.payload::jsonb->>'summary'",
]);

/** Adds a value to those of a statement, of which the second is the organization. @returns what stands for it there */
export type Parameter = (value: unknown) => string;

/** What joins to an intent, called `event`, its outcome, called `outcome`. */
export const JOIN_OUTCOME = `
    LEFT JOIN audit_event outcome ON event.kind = 'intent' AND outcome.kind = 'outcome' AND outcome.organization = event.organization
      AND outcome.session_id = event.session_id AND outcome.call_id = event.call_id`;

/** Whether the conditions of a filter look at the outcome that belongs to an intent. */
export function looksAtOutcome({ outcome, text }: AuditFilter): boolean {
  return outcome !== undefined || text !== undefined;
}

/** Of `event`, with its `outcome` where they look at it; without who answered and from where in the log on. */
export function auditConditions(filter: AuditFilter, parameter: Parameter): string[] {
  const conditions: string[] = [];
  const equal = (column: string, value: unknown): void => {
    if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
  };
  equal("event.kind", filter.kind);
  equal("event.tool", filter.tool);
  equal("event.principal", filter.principal);
  equal("event.session_id", filter.sessionId);
  equal("event.run_id", filter.runId);
  equal("event.call_id", filter.callId);
  equal("event.decision", filter.decision);
  equal("event.step", filter.step);
  equal("event.safety_level", filter.safetyLevel);
  equal("event.mode", filter.mode);
  equal(filter.kind === "intent" ? "outcome.outcome" : "event.outcome", filter.outcome);
  if (filter.rule !== undefined) conditions.push(`starts_with(event.rule, ${parameter(filter.rule)})`);
  if (filter.since !== undefined) conditions.push(`event.at >= ${parameter(filter.since)}`);
  if (filter.until !== undefined) conditions.push(`event.at < ${parameter(filter.until)}`);
  if (filter.path !== undefined) conditions.push(...pathConditions(filter.path, parameter));
  if (filter.host !== undefined) conditions.push(...hostConditions(filter.host.toLowerCase(), parameter));
  if (filter.text !== undefined) conditions.push(...textConditions(filter.text, filter.since, parameter));
  return conditions;
}

/*
 * Taking a record apart costs much more than looking into its text. So what is looked for is first found there, written as it
 * stands in it, and only what has it is taken apart.
 */

function pathConditions(asked: string, parameter: Parameter): string[] {
  // As the arguments have it: they are canonical JSON.
  const path = asJson(asked);
  const ways = [`"path":"${path}"`, `"path":"${path}/`].map((text) => `strpos(${ARGUMENTS}, ${parameter(text)}) > 0`);
  return [
    `strpos(event.payload, ${parameter(asJson(path))}) > 0`,
    `(${ways.join(" OR ")} OR event.tool = 'shell_exec' AND strpos(${ARGUMENTS}, ${parameter(path)}) > 0)`,
  ];
}

/** The host itself or one below it, and not one that only begins or ends like it. */
function hostConditions(host: string, parameter: Parameter): string[] {
  const pattern = `(^|[^a-z0-9_-])${host.replaceAll(".", "[.]")}($|[^a-z0-9._-]|[.]($|[^a-z0-9_-]))`;
  return [`strpos(${lowered("event.payload", host)}, ${parameter(host)}) > 0`, `lower(${ARGUMENTS}) ~ ${parameter(pattern)}`];
}

/** Outcomes are looked through by themselves: joining each to its call first takes longer than all the rest. */
function textConditions(text: string, since: Date | undefined, parameter: Parameter): string[] {
  const written = parameter(asJson(text).toLowerCase());
  // No outcome is older than its call.
  const inTime = since === undefined ? "" : ` AND result.at >= ${parameter(since)}`;
  const isWritten = (payload: string): string => `strpos(${lowered(payload, text)}, ${written}) > 0`;
  return [
    `(${isWritten("event.payload")} OR event.kind = 'intent' AND (event.session_id, event.call_id) IN (
      SELECT result.session_id, result.call_id FROM audit_event result
      WHERE result.kind = 'outcome' AND result.organization = $2 AND ${isWritten("result.payload")}${inTime}))`,
    `strpos(lower(concat_ws(E'\\n', ${TEXT_FIELDS.join(", ")})), lower(${parameter(text)})) > 0`,
  ];
}

/** What is ASCII needs no rules of a language, which take several times as long. */
function lowered(column: string, soughtFor: string): string {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  return /^[\u0000-\u007f]*$/.test(soughtFor) ? `lower(${column} COLLATE "C")` : `lower(${column})`;
}

function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
