-- With whom a session is shared. Its owner is in the session itself.
CREATE TABLE session_grant (
  session_id uuid NOT NULL REFERENCES session ON DELETE CASCADE,
  organization text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('member', 'team', 'organization')),
  -- Empty where everybody of the organization is meant.
  subject text NOT NULL,
  -- 1 view, 2 comment, 3 drive: each contains the ones before it.
  level smallint NOT NULL CHECK (level BETWEEN 1 AND 3),
  granted_by text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT now(),
  until timestamptz,
  PRIMARY KEY (session_id, kind, subject)
);
CREATE INDEX session_grant_by_subject ON session_grant (organization, kind, subject);
