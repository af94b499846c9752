-- In which project something was asked; empty where in none, or before this was kept.
ALTER TABLE recall_log ADD COLUMN project text NOT NULL DEFAULT '';

-- A fact that did not belong where a recall showed it, as its person says. It goes with the recall.
CREATE TABLE recall_mark (
  recall_id bigint NOT NULL REFERENCES recall_log ON DELETE CASCADE,
  fact_id uuid NOT NULL,
  organization text NOT NULL CHECK (organization <> ''),
  owner text NOT NULL CHECK (owner <> ''),
  marked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (recall_id, fact_id)
);
CREATE INDEX recall_mark_owner ON recall_mark (organization, owner);

GRANT SELECT, INSERT, DELETE ON recall_mark TO hlvm_memory_viewer;
ALTER TABLE recall_mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner ON recall_mark TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND owner = (SELECT viewer_principal())
);
