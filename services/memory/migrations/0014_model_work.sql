-- What a model may look at in the background, one row a session or fact: a text that has changed waits again. It fills whether or not a
-- model is set, so that one that is set later finds what was there before.
CREATE TABLE model_work (
  item_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('session', 'fact')),
  organization text NOT NULL,
  owner text NOT NULL,
  -- Of a fact.
  project text NOT NULL DEFAULT '',
  due_at timestamptz NOT NULL,
  claim_id uuid UNIQUE,
  claimed_until timestamptz,
  -- Answers that were refused, and why the last one was.
  refusals smallint NOT NULL DEFAULT 0,
  refusal text NOT NULL DEFAULT ''
);
CREATE INDEX model_work_due ON model_work (organization, owner, due_at);

-- What a model says of a session.
CREATE TABLE session_label (
  transcript_id uuid PRIMARY KEY REFERENCES transcript ON DELETE CASCADE,
  organization text NOT NULL,
  owner text NOT NULL,
  label text NOT NULL,
  summary text NOT NULL,
  status text NOT NULL CHECK (status IN ('done', 'open', 'blocked', 'abandoned', 'unclear')),
  decisions text[] NOT NULL,
  open_questions text[] NOT NULL,
  entities text[] NOT NULL,
  model text NOT NULL,
  labelled_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_label_owner ON session_label (organization, owner);

-- What a model takes a fact to be about, which never orders facts as `slot` does.
ALTER TABLE fact
  ADD COLUMN found_subject text NOT NULL DEFAULT '',
  ADD COLUMN found_predicate text NOT NULL DEFAULT '',
  ADD COLUMN found_slot text NOT NULL DEFAULT '',
  ADD COLUMN found_by text NOT NULL DEFAULT '';
CREATE INDEX fact_found_slot ON fact (audience, found_slot) WHERE valid_to IS NULL AND found_slot <> '';
-- The model that found it; empty: by its form.
ALTER TABLE entity_mention ADD COLUMN found_by text NOT NULL DEFAULT '';

-- A session waits until a quarter of an hour after what was said last; a claim of what it was before no longer counts.
CREATE FUNCTION await_label(waits_again model_work[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO model_work (item_id, kind, organization, owner, due_at)
    SELECT item_id, 'session', organization, owner, least(max(due_at), now()) + interval '15 minutes'
    FROM unnest(waits_again) GROUP BY item_id, organization, owner ORDER BY item_id
    ON CONFLICT (item_id) DO UPDATE SET due_at = greatest(model_work.due_at, excluded.due_at), claim_id = NULL, claimed_until = NULL,
      refusals = 0, refusal = ''
$$;
CREATE FUNCTION await_label_of_new() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM await_label(array_agg(waits)) FROM (
    SELECT (transcript_id, 'session', organization, owner, '', coalesce(said_at, '-infinity'), NULL, NULL, 0, '')::model_work AS waits
    FROM new_turns
  ) AS one;
  RETURN NULL;
END $$;
CREATE FUNCTION await_label_of_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM await_label(array_agg(waits)) FROM (
    SELECT (new_turns.transcript_id, 'session', new_turns.organization, new_turns.owner, '', coalesce(new_turns.said_at, '-infinity'),
      NULL, NULL, 0, '')::model_work AS waits
    FROM new_turns JOIN old_turns USING (turn_id) WHERE new_turns.text <> old_turns.text
  ) AS one;
  -- What a model found in a text counts for that text.
  DELETE FROM entity_mention USING new_turns JOIN old_turns USING (turn_id)
    WHERE item_id = turn_id AND found_by <> '' AND new_turns.text <> old_turns.text;
  RETURN NULL;
END $$;
CREATE TRIGGER await_label_new AFTER INSERT ON transcript_turn REFERENCING NEW TABLE AS new_turns
  FOR EACH STATEMENT EXECUTE FUNCTION await_label_of_new();
CREATE TRIGGER await_label_changed AFTER UPDATE ON transcript_turn REFERENCING NEW TABLE AS new_turns OLD TABLE AS old_turns
  FOR EACH STATEMENT EXECUTE FUNCTION await_label_of_changed();
-- What was forgotten, or is gone, has no labels.
CREATE FUNCTION forget_labels() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM model_work WHERE item_id = OLD.transcript_id;
  DELETE FROM session_label WHERE transcript_id = OLD.transcript_id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_labels AFTER UPDATE ON transcript FOR EACH ROW WHEN (NEW.forgotten_at IS NOT NULL)
  EXECUTE FUNCTION forget_labels();
CREATE TRIGGER forget_labels_of_gone AFTER DELETE ON transcript FOR EACH ROW EXECUTE FUNCTION forget_labels();

-- A fact that holds and has no slot waits.
CREATE FUNCTION await_slot() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM model_work WHERE item_id = OLD.fact_id;
  ELSIF NEW.valid_to IS NOT NULL OR NEW.slot <> '' OR NEW.found_by <> '' THEN
    DELETE FROM model_work WHERE item_id = NEW.fact_id;
  ELSIF TG_OP = 'UPDATE' AND OLD.valid_to IS NULL THEN
    UPDATE model_work SET owner = NEW.owner, project = NEW.project WHERE item_id = NEW.fact_id;
  ELSE
    INSERT INTO model_work (item_id, kind, organization, owner, project, due_at)
      VALUES (NEW.fact_id, 'fact', NEW.organization, NEW.owner, NEW.project, now()) ON CONFLICT (item_id) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER await_slot_new AFTER INSERT ON fact FOR EACH ROW WHEN (NEW.valid_to IS NULL AND NEW.slot = '') EXECUTE FUNCTION await_slot();
CREATE TRIGGER await_slot_changed AFTER UPDATE ON fact FOR EACH ROW
  WHEN (NEW.valid_to IS DISTINCT FROM OLD.valid_to OR NEW.owner <> OLD.owner OR NEW.project <> OLD.project) EXECUTE FUNCTION await_slot();
CREATE TRIGGER await_slot_gone AFTER DELETE ON fact FOR EACH ROW EXECUTE FUNCTION await_slot();

-- What was there before.
INSERT INTO model_work (item_id, kind, organization, owner, due_at)
  SELECT transcript_id, 'session', transcript.organization, transcript.owner, now() FROM transcript
  WHERE forgotten_at IS NULL AND EXISTS (SELECT FROM transcript_turn WHERE transcript_turn.transcript_id = transcript.transcript_id);
INSERT INTO model_work (item_id, kind, organization, owner, project, due_at)
  SELECT fact_id, 'fact', organization, owner, project, now() FROM fact WHERE valid_to IS NULL AND slot = '';

-- Each person's own: nobody is asked of what is somebody else's.
GRANT SELECT, UPDATE, DELETE ON model_work TO hlvm_memory_viewer;
GRANT SELECT, INSERT, UPDATE, DELETE ON session_label TO hlvm_memory_viewer;
ALTER TABLE model_work ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON model_work TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
ALTER TABLE session_label ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON session_label TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
