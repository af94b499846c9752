-- What was done to facts, each change whole. Whoever changes facts of an audience holds its lock, so that numbers are committed in
-- their order and have no gaps: who reads on behind a number misses nothing, and learns nothing of other audiences.
CREATE TABLE fact_change (
  change_id uuid PRIMARY KEY,
  -- Of the fact, and as long as that stands: who sees the one sees the other. A policy that looked for the fact would have all facts
  -- read wherever a page of changes is.
  organization text NOT NULL,
  owner text NOT NULL,
  project text NOT NULL,
  scope text NOT NULL,
  audience text NOT NULL,
  number bigint NOT NULL,
  fact_id uuid NOT NULL REFERENCES fact,
  kind text NOT NULL CHECK (kind IN ('written', 'replaced', 'ended', 'pinned', 'unpinned', 'undone')),
  principal text NOT NULL,
  session_id text NOT NULL,
  run_id text NOT NULL,
  call_id text NOT NULL,
  undoes uuid REFERENCES fact_change,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (audience, number),
  CHECK ((kind = 'undone') = (undoes IS NOT NULL))
);
CREATE INDEX fact_change_time ON fact_change (audience, changed_at, change_id);

-- All of a fact that can change.
CREATE TYPE fact_state AS (pinned boolean, valid_to timestamptz, superseded_by uuid);
-- What each fact was before, nothing where it is new, and what it became.
CREATE TABLE fact_change_part (
  change_id uuid NOT NULL REFERENCES fact_change DEFERRABLE INITIALLY DEFERRED,
  fact_id uuid NOT NULL REFERENCES fact,
  was fact_state,
  became fact_state NOT NULL,
  PRIMARY KEY (change_id, fact_id)
);
CREATE INDEX fact_change_part_fact ON fact_change_part (fact_id);

CREATE INDEX fact_time ON fact (audience, valid_from, fact_id);

-- History is added to, and never changed.
GRANT SELECT, INSERT ON fact_change, fact_change_part TO hlvm_memory_viewer;
ALTER TABLE fact_change ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON fact_change TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization())
  AND CASE scope
    WHEN 'team' THEN true
    WHEN 'personal' THEN owner = (SELECT viewer_principal())
    WHEN 'project' THEN project = (SELECT viewer_project())
    ELSE false
  END
);
-- In this language it is asked for each row, and no plan reads all facts for it.
CREATE FUNCTION sees_fact(wanted uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS
  'BEGIN RETURN EXISTS (SELECT FROM fact WHERE fact.fact_id = wanted); END';
ALTER TABLE fact_change_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON fact_change_part TO hlvm_memory_viewer USING (sees_fact(fact_id));

-- Facts that are there already: they were written, or took the place of others, and some ended since. By whom they were ended is
-- not known.
CREATE TEMPORARY TABLE earlier ON COMMIT DROP AS
SELECT gen_random_uuid() AS change_id, audience, fact_id, kind, principal, session_id, changed_at
FROM (
  SELECT audience, fact_id, owner AS principal, source_session_id AS session_id, valid_from AS changed_at,
    CASE WHEN EXISTS (SELECT FROM fact old WHERE old.superseded_by = fact.fact_id AND old.valid_to = fact.valid_from)
      THEN 'replaced' ELSE 'written' END AS kind
  FROM fact
  UNION ALL
  SELECT old.audience, coalesce(next.fact_id, old.fact_id), '', '', old.valid_to,
    CASE WHEN next.fact_id IS NULL THEN 'ended' ELSE 'replaced' END
  FROM fact old LEFT JOIN fact next ON next.fact_id = old.superseded_by
  WHERE old.valid_to IS NOT NULL AND old.valid_to IS DISTINCT FROM next.valid_from
  GROUP BY old.audience, next.fact_id, coalesce(next.fact_id, old.fact_id), old.valid_to
) AS what;
INSERT INTO fact_change (change_id, organization, owner, project, scope, audience, number, fact_id, kind, principal, session_id, run_id,
  call_id, changed_at)
SELECT change_id, organization, owner, project, scope, audience,
  row_number() OVER (PARTITION BY audience ORDER BY changed_at, change_id), fact_id, kind, principal, session_id, '', '', changed_at
FROM earlier JOIN fact USING (fact_id, audience);
INSERT INTO fact_change_part (change_id, fact_id, became)
SELECT change_id, fact.fact_id, ROW(fact.pinned, NULL, NULL)::fact_state FROM earlier JOIN fact USING (fact_id)
WHERE changed_at = valid_from AND earlier.kind IN ('written', 'replaced');
INSERT INTO fact_change_part (change_id, fact_id, was, became)
SELECT change_id, old.fact_id, ROW(old.pinned, NULL, NULL)::fact_state, ROW(old.pinned, old.valid_to, old.superseded_by)::fact_state
FROM fact old JOIN earlier ON earlier.changed_at = old.valid_to AND earlier.audience = old.audience
  AND earlier.fact_id = coalesce(old.superseded_by, old.fact_id) AND earlier.kind IN ('ended', 'replaced');
