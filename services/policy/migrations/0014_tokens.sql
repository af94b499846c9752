-- Who people are, apart from what policy decides: it can move out with its schema.
CREATE SCHEMA identity;
GRANT USAGE ON SCHEMA identity TO hlvm_policy;

-- Tokens with which programs call in a person's name. Of the token itself only the hash is kept.
CREATE TABLE identity.token (
  token_id uuid PRIMARY KEY,
  sha256 bytea NOT NULL UNIQUE,
  organization text NOT NULL,
  owner text NOT NULL,
  -- The owner's when it was made: no token has any that its owner had not.
  owner_roles text[] NOT NULL,
  label text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at timestamptz
) WITH (fillfactor = 80);
CREATE INDEX token_by_owner ON identity.token (organization, owner, created_at);

-- Rows are kept: the audit log names them. Nothing but their use and their end ever changes.
GRANT SELECT, INSERT, UPDATE (last_used_at, revoked_at) ON identity.token TO hlvm_policy;

DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''token_created'', ''token_revoked'')) NOT VALID',
    former);
END $$;
