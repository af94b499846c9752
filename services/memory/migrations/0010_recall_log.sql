-- What was asked of memory and what that showed; each is its person's own.
CREATE TABLE recall_log (
  recall_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization text NOT NULL CHECK (organization <> ''),
  owner text NOT NULL CHECK (owner <> ''),
  kind text NOT NULL CHECK (kind IN ('run', 'tool', 'search')),
  session_id text NOT NULL,
  run_id text NOT NULL,
  -- Its beginning, without secrets.
  query text NOT NULL,
  shown uuid[] NOT NULL,
  milliseconds real NOT NULL,
  recalled_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX recall_log_time ON recall_log (organization, owner, recalled_at);
CREATE INDEX recall_log_session ON recall_log (organization, owner, session_id) WHERE session_id <> '';

-- A run that came to an answer, and what that has to do with facts: counted once.
CREATE TABLE answered_run (
  organization text NOT NULL CHECK (organization <> ''),
  owner text NOT NULL CHECK (owner <> ''),
  run_id text NOT NULL,
  shown uuid[] NOT NULL,
  used uuid[] NOT NULL,
  rederived uuid[] NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, owner, run_id)
);
CREATE INDEX answered_run_time ON answered_run (organization, owner, answered_at);

GRANT SELECT, INSERT ON recall_log, answered_run TO hlvm_memory_viewer;
ALTER TABLE recall_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON recall_log TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
ALTER TABLE answered_run ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON answered_run TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
