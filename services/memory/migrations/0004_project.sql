-- A project is what a workspace is, not where it lies. Its id says nothing of what identifies it.
CREATE TABLE project (
  organization text NOT NULL,
  project_id text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, project_id)
);
-- Who had a session in it, or was added. Who was removed stays so, whatever sessions they have.
CREATE TABLE project_member (
  organization text NOT NULL,
  project_id text NOT NULL,
  principal text NOT NULL,
  is_removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (organization, project_id, principal),
  FOREIGN KEY (organization, project_id) REFERENCES project
);
CREATE INDEX project_member_principal ON project_member (organization, principal);
-- By which path a person's sessions know it: a path is one person's word for a project, and nobody else's.
CREATE TABLE project_alias (
  organization text NOT NULL,
  principal text NOT NULL,
  path text NOT NULL,
  project_id text NOT NULL,
  PRIMARY KEY (organization, principal, path),
  FOREIGN KEY (organization, project_id) REFERENCES project
);

-- Facts that one person wrote for a project are another project's from now on, with what was done to them. What says the same there
-- already, or has its slot, stays; theirs ends.
CREATE FUNCTION adopt_project(moving_organization text, moving_owner text, from_project text, to_project text, to_audience text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  moved integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(to_audience, 0));
  CREATE TEMPORARY TABLE IF NOT EXISTS moving (fact_id uuid PRIMARY KEY) ON COMMIT DROP;
  TRUNCATE moving;
  INSERT INTO moving SELECT fact_id FROM fact
    WHERE organization = moving_organization AND owner = moving_owner AND scope = 'project' AND project = from_project;
  GET DIAGNOSTICS moved = ROW_COUNT;
  IF moved = 0 THEN RETURN 0; END IF;
  UPDATE fact SET valid_to = greatest(now(), valid_from) FROM moving WHERE moving.fact_id = fact.fact_id AND valid_to IS NULL
    AND EXISTS (
      SELECT FROM fact AS there WHERE there.audience = to_audience AND there.slot = fact.slot AND there.valid_to IS NULL
        AND (there.slot <> '' OR there.text_key = fact.text_key)
    );
  UPDATE fact SET project = to_project, audience = to_audience FROM moving WHERE moving.fact_id = fact.fact_id;
  UPDATE fact_change SET project = to_project, audience = to_audience, number = renumbered.number
    FROM (
      SELECT change_id, row_number() OVER (ORDER BY changed_at, change_id)
          + coalesce((SELECT max(number) FROM fact_change WHERE audience = to_audience), 0) AS number
      FROM fact_change JOIN moving USING (fact_id)
    ) AS renumbered
    WHERE renumbered.change_id = fact_change.change_id;
  INSERT INTO outbox (fact_id) SELECT fact_id FROM moving;
  RETURN moved;
END $$;
CREATE INDEX fact_project ON fact (organization, owner, project) WHERE scope = 'project';
