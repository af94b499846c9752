CREATE TABLE fact (
  fact_id uuid PRIMARY KEY,
  organization text NOT NULL CHECK (organization <> ''),
  owner text NOT NULL CHECK (owner <> ''),
  project text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('personal', 'team', 'project')),
  -- Who may see it, as one hash: the key of the indexes here and of the filter in the search index.
  audience text NOT NULL,
  text text NOT NULL,
  -- Hash of the normalized text: equal texts in one slot are one fact.
  text_key text NOT NULL,
  stems text NOT NULL,
  full_text tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('simple', stems)) STORED,
  category text NOT NULL,
  type text NOT NULL CHECK (type IN ('user', 'feedback', 'project', 'reference')),
  origin text NOT NULL CHECK (origin IN ('user-stated', 'model-inferred', 'system-generated')),
  subject text NOT NULL,
  predicate text NOT NULL,
  slot text NOT NULL,
  tags text[] NOT NULL,
  pinned boolean NOT NULL,
  source_session_id text NOT NULL,
  valid_from timestamptz NOT NULL DEFAULT now(),
  valid_to timestamptz,
  superseded_by uuid REFERENCES fact DEFERRABLE INITIALLY DEFERRED,
  CHECK ((scope = 'project') = (project <> ''))
);
-- One valid fact on one property of one subject; the empty slot holds the facts without subject or predicate.
CREATE UNIQUE INDEX fact_slot ON fact (audience, slot) WHERE valid_to IS NULL AND slot <> '';
CREATE UNIQUE INDEX fact_text ON fact (audience, slot, text_key) WHERE valid_to IS NULL;
CREATE INDEX fact_pinned ON fact (audience, valid_from) WHERE valid_to IS NULL AND pinned;

-- What the search index has not taken yet. A row says only which fact changed; the indexer reads how it is now.
CREATE TABLE outbox (
  outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fact_id uuid NOT NULL REFERENCES fact
);
CREATE INDEX outbox_fact ON outbox (fact_id);

-- What a tool call came to: a call that is sent again does nothing again.
CREATE TABLE tool_receipt (
  organization text NOT NULL,
  session_id uuid NOT NULL,
  call_id text NOT NULL,
  owner text NOT NULL,
  arguments_hash text NOT NULL,
  result jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, session_id, call_id)
);

-- Every read and write on somebody's behalf happens as this role, to which alone the policies below apply: the owner of
-- the tables, who migrates and feeds the index, passes them by.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hlvm_memory_viewer') THEN
    CREATE ROLE hlvm_memory_viewer NOLOGIN;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'hlvm_memory_viewer', 'SET') THEN
    EXECUTE format('GRANT hlvm_memory_viewer TO %I', current_user);
  END IF;
END $$;
GRANT USAGE ON SCHEMA public TO hlvm_memory_viewer;
GRANT SELECT, INSERT, UPDATE ON fact, tool_receipt TO hlvm_memory_viewer;
GRANT SELECT, INSERT ON outbox TO hlvm_memory_viewer;

CREATE FUNCTION viewer_organization() RETURNS text LANGUAGE sql STABLE
  RETURN nullif(current_setting('hlvm.organization', true), '');
CREATE FUNCTION viewer_principal() RETURNS text LANGUAGE sql STABLE
  RETURN nullif(current_setting('hlvm.principal', true), '');
CREATE FUNCTION viewer_project() RETURNS text LANGUAGE sql STABLE
  RETURN nullif(current_setting('hlvm.project', true), '');

-- Until the end of the transaction, what is read and written is what this person may read and write.
CREATE FUNCTION enter_scope(organization text, principal text, project text) RETURNS void LANGUAGE sql
BEGIN ATOMIC
  SELECT set_config('hlvm.organization', organization, true),
    set_config('hlvm.principal', principal, true),
    set_config('hlvm.project', project, true),
    set_config('role', 'hlvm_memory_viewer', true);
END;

ALTER TABLE fact ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON fact TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization())
  AND CASE scope
    WHEN 'team' THEN true
    WHEN 'personal' THEN owner = (SELECT viewer_principal())
    WHEN 'project' THEN project = (SELECT viewer_project())
    ELSE false
  END
);

ALTER TABLE tool_receipt ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON tool_receipt TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
