-- What of a workspace may instruct the agent in a person's name: the very texts that they saw. `workspace` is a folder, or what
-- it was cloned from; `files` is a list of path, sha256 and text.
CREATE TABLE workspace_trust (
  organization text NOT NULL,
  principal text NOT NULL,
  workspace text NOT NULL,
  files jsonb NOT NULL,
  trusted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, principal, workspace)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_trust TO hlvm_policy;

-- Two more kinds, whatever kinds there are by now. NOT VALID: every row that is there fits the narrower rule of before.
DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''trust_added'', ''trust_removed'')) NOT VALID',
    former);
END $$;
