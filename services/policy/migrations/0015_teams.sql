-- Who belongs together: a team's budget limits what its members begin.
CREATE TABLE identity.team (
  organization text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, name)
);

CREATE TABLE identity.team_member (
  organization text NOT NULL,
  team text NOT NULL,
  principal text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, team, principal),
  FOREIGN KEY (organization, team) REFERENCES identity.team ON DELETE CASCADE
);
CREATE INDEX team_member_by_principal ON identity.team_member (organization, principal, team);

GRANT SELECT, INSERT, DELETE ON identity.team, identity.team_member TO hlvm_policy;

DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''team_created'', ''team_deleted'', ''team_member_added'', ''team_member_removed'')) NOT VALID',
    former);
END $$;
