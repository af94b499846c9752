-- What the sandbox believes of who may use the workspace of another's session: the owner's own word, and nobody else's.
CREATE TABLE session_share (
  organization text NOT NULL,
  session_id uuid NOT NULL,
  owner text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('member', 'team', 'organization')),
  subject text NOT NULL,
  session_right text NOT NULL CHECK (session_right IN ('view', 'comment', 'drive', 'own')),
  until timestamptz,
  PRIMARY KEY (organization, session_id, owner, kind, subject)
);

-- Sessions that were handed over. The sandbox goes on to know the workspace under whom it was made for.
CREATE TABLE session_taken (
  organization text NOT NULL,
  session_id uuid NOT NULL,
  workspace_owner text NOT NULL,
  owner text NOT NULL,
  PRIMARY KEY (organization, session_id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON session_share TO hlvm_policy;
GRANT SELECT, INSERT, UPDATE (owner) ON session_taken TO hlvm_policy;

DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''session_taken'')) NOT VALID',
    former);
END $$;
