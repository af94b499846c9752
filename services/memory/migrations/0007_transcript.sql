-- Sessions that people had with other agents, as those agents' files tell them. What was forgotten stays by its name alone, so that the
-- next import does not bring it back.
CREATE TABLE transcript (
  transcript_id uuid PRIMARY KEY,
  organization text NOT NULL,
  owner text NOT NULL,
  tool text NOT NULL,
  session text NOT NULL,
  title text NOT NULL DEFAULT '',
  folder text NOT NULL DEFAULT '',
  machine text NOT NULL DEFAULT '',
  cited integer NOT NULL DEFAULT 0,
  imported_at timestamptz NOT NULL DEFAULT now(),
  forgotten_at timestamptz,
  UNIQUE (organization, owner, tool, session)
);
CREATE TABLE transcript_turn (
  turn_id uuid PRIMARY KEY,
  transcript_id uuid NOT NULL REFERENCES transcript ON DELETE CASCADE,
  organization text NOT NULL,
  owner text NOT NULL,
  key text NOT NULL,
  ordinal integer NOT NULL,
  speaker text NOT NULL CHECK (speaker IN ('person', 'assistant', 'tool', 'harness')),
  said_at timestamptz,
  text text NOT NULL,
  -- 1: as first read; more: the agent's file said something else later.
  version integer NOT NULL DEFAULT 1
);
CREATE INDEX transcript_turn_place ON transcript_turn (transcript_id, ordinal);
CREATE INDEX transcript_turn_owner ON transcript_turn (organization, owner);

CREATE FUNCTION forget_turns() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM search_item USING old_turns WHERE item_id = turn_id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget AFTER DELETE ON transcript_turn REFERENCING OLD TABLE AS old_turns
  FOR EACH STATEMENT EXECUTE FUNCTION forget_turns();

GRANT SELECT, INSERT, UPDATE, DELETE ON transcript, transcript_turn TO hlvm_memory_viewer;
ALTER TABLE transcript ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON transcript TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
ALTER TABLE transcript_turn ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON transcript_turn TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
