import type { Database } from "@hlvm/postgres/database";

const EVENTS_AT_ONCE = 100_000;
/** As many as a team of fifty makes in some months. */
export const BENCH_CALLS = 500_000;

/** One call in `index` order: an intent and its outcome, over thirty days, 500 sessions, 50 people and 8 tools. */
const INSERT = `
  WITH call AS (
    SELECT number, now() - make_interval(secs => (2592000.0 * ($3::bigint - number)) / $3::bigint) AS at,
      'user:person' || number % 50 AS principal, md5((number % 500)::text)::uuid AS session, md5('run' || number % 5000)::uuid AS run,
      (ARRAY['read_file', 'read_file', 'search_text', 'list_files', 'write_file', 'edit_file', 'shell_exec', 'shell_exec'])[number % 8 + 1] AS tool,
      CASE WHEN number % 40 = 0 THEN 'deny' ELSE 'allow' END AS decision,
      (ARRAY['read_only', 'mode', 'approval', 'explicit_allow'])[number % 4 + 1] AS step,
      'L' || number % 3 AS level, CASE WHEN number % 97 = 0 THEN 'failed' ELSE 'succeeded' END AS outcome
    FROM generate_series($1::bigint, $2::bigint) AS number
  ), kinds AS (SELECT unnest(ARRAY['intent', 'outcome']) AS kind)
  INSERT INTO audit_event (organization, at, kind, principal, session_id, run_id, call_id, tool, decision, step, payload)
  SELECT 'local', at, kind, principal, session, run, 'call' || number, tool, decision, step,
    json_strip_nulls(json_build_object(
      'arguments', CASE kind WHEN 'intent' THEN '{"content":"' || repeat('x', 200) || '","path":"src/folder' || number % 1000 || '/file' || number || '.ts"}' END,
      'argumentsHash', repeat('0', 64), 'at', at, 'callId', 'call' || number, 'decision', CASE kind WHEN 'intent' THEN decision END,
      'kind', kind, 'mode', CASE kind WHEN 'intent' THEN 'default' END, 'organization', 'local',
      'outcome', CASE kind WHEN 'outcome' THEN outcome END, 'principal', principal, 'reason', 'Because the rules say so, for this call.',
      'rule', CASE kind WHEN 'intent' THEN 'rule ' || number % 20 END, 'runId', run, 'safetyLevel', CASE kind WHEN 'intent' THEN level END,
      'sessionId', session, 'step', CASE kind WHEN 'intent' THEN step END, 'summary', CASE kind WHEN 'outcome' THEN '12 lines' END))::text
  FROM call CROSS JOIN kinds WHERE kind = 'intent' OR decision = 'allow' ORDER BY number, kind`;

/** Puts a log of a million events, two for a call that was allowed, past the function that the service appends with. */
export async function loadAuditEvents(database: Database): Promise<number> {
  for (let from = 1; from <= BENCH_CALLS; from += EVENTS_AT_ONCE / 2)
    await database.query(INSERT, [from, from + EVENTS_AT_ONCE / 2 - 1, BENCH_CALLS]);
  await database.query("VACUUM ANALYZE audit_event");
  const [row] = await database.query<{ events: string }>("SELECT count(*) AS events FROM audit_event");
  return Number(row!.events);
}
