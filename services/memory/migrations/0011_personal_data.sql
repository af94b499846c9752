-- What has left the database leaves the index by its id alone.
ALTER TABLE outbox DROP CONSTRAINT outbox_fact_id_fkey;

CREATE INDEX fact_change_fact ON fact_change (fact_id);
CREATE INDEX fact_change_undoes ON fact_change (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX fact_superseded_by ON fact (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX fact_proposal_of ON fact (proposal_of) WHERE proposal_of IS NOT NULL;
CREATE INDEX fact_owner ON fact (organization, owner);
CREATE INDEX fact_ended ON fact (organization, scope, valid_to) WHERE valid_to IS NOT NULL;

-- Facts, what was done to them and what they are found by, gone for good. Of a change that concerned others, too, their part stays.
CREATE FUNCTION forget_facts(gone uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changes uuid[];
BEGIN
  INSERT INTO outbox (fact_id) SELECT fact_id FROM fact WHERE fact_id = ANY (gone);
  WITH RECURSIVE undone AS (
    SELECT change_id FROM fact_change WHERE fact_id = ANY (gone)
    UNION
    SELECT later.change_id FROM fact_change AS later JOIN undone ON later.undoes = undone.change_id
  )
  SELECT coalesce(array_agg(change_id), '{}') INTO changes FROM undone;
  DELETE FROM fact_change_part WHERE fact_id = ANY (gone) OR change_id = ANY (changes);
  DELETE FROM fact_change WHERE change_id = ANY (changes);
  UPDATE fact SET superseded_by = NULL WHERE superseded_by = ANY (gone) AND fact_id <> ALL (gone);
  UPDATE fact SET proposal_of = NULL WHERE proposal_of = ANY (gone) AND fact_id <> ALL (gone);
  DELETE FROM search_item WHERE item_id = ANY (gone);
  DELETE FROM fact WHERE fact_id = ANY (gone);
END $$;

-- How long an organization keeps what has ended; no row: for good.
CREATE TABLE retention (
  organization text NOT NULL CHECK (organization <> ''),
  -- Of a fact; log: what was asked of memory.
  scope text NOT NULL CHECK (scope IN ('personal', 'team', 'project', 'log')),
  days integer NOT NULL CHECK (days BETWEEN 1 AND 36500),
  changed_by text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, scope)
);
