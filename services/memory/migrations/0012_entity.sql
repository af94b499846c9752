-- What facts and turns speak of, derived from their texts. Mentions of facts that ended stay as long as the facts do.
CREATE TABLE entity_mention (
  item_id uuid NOT NULL,
  item_kind text NOT NULL CHECK (item_kind IN ('fact', 'turn')),
  organization text NOT NULL,
  owner text NOT NULL,
  project text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('personal', 'team', 'project')),
  kind text NOT NULL CHECK (kind IN ('path', 'symbol', 'package', 'issue', 'person', 'name', 'url')),
  -- The same for every way to write the name.
  key text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- What a slot is about, what a slot says of it, part of a text, or who said it.
  role text NOT NULL CHECK (role IN ('subject', 'object', 'mention', 'actor')),
  mentioned_at timestamptz NOT NULL,
  PRIMARY KEY (item_id, kind, key)
);
CREATE INDEX entity_mention_key ON entity_mention (organization, key, mentioned_at DESC);
CREATE INDEX entity_mention_owner ON entity_mention (organization, owner);

-- How entities were found in it; what was found by another version is found again.
ALTER TABLE fact ADD COLUMN entities_version smallint NOT NULL DEFAULT 0;
ALTER TABLE transcript_turn ADD COLUMN entities_version smallint NOT NULL DEFAULT 0;

CREATE FUNCTION forget_mentions_of_facts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entity_mention USING old_facts WHERE item_id = fact_id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_mentions AFTER DELETE ON fact REFERENCING OLD TABLE AS old_facts
  FOR EACH STATEMENT EXECUTE FUNCTION forget_mentions_of_facts();
CREATE FUNCTION forget_mentions_of_turns() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entity_mention USING old_turns WHERE item_id = turn_id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_mentions AFTER DELETE ON transcript_turn REFERENCING OLD TABLE AS old_turns
  FOR EACH STATEMENT EXECUTE FUNCTION forget_mentions_of_turns();

-- A fact that becomes another project's, or whose person was erased, takes its mentions along.
CREATE FUNCTION move_mentions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.actor <> OLD.actor THEN DELETE FROM entity_mention WHERE item_id = NEW.fact_id AND role = 'actor'; END IF;
  UPDATE entity_mention SET owner = NEW.owner, project = NEW.project WHERE item_id = NEW.fact_id;
  RETURN NULL;
END $$;
CREATE TRIGGER move_mentions AFTER UPDATE ON fact FOR EACH ROW
  WHEN (NEW.project <> OLD.project OR NEW.owner <> OLD.owner OR NEW.actor <> OLD.actor) EXECUTE FUNCTION move_mentions();

-- Who sees the item sees what it mentions.
GRANT SELECT, INSERT, DELETE ON entity_mention TO hlvm_memory_viewer;
ALTER TABLE entity_mention ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON entity_mention TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization())
  AND CASE scope
    WHEN 'team' THEN true
    WHEN 'personal' THEN owner = (SELECT viewer_principal())
    WHEN 'project' THEN project = (SELECT viewer_project())
    ELSE false
  END
);

-- A session's facts.
CREATE INDEX fact_source_session ON fact (organization, source_session_id) WHERE source_session_id <> '';
