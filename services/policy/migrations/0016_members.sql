-- The people of an organization. Who somebody is, the identity provider says by issuer and subject; an e-mail address is none.
CREATE TABLE identity.member (
  member_id uuid PRIMARY KEY,
  organization text NOT NULL,
  -- What everything else knows them by; never given to anybody else.
  principal text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  name text NOT NULL,
  email text NOT NULL,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  -- That the identity provider named at the last login that named any.
  groups text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz,
  UNIQUE (organization, issuer, subject),
  UNIQUE (organization, principal)
);

-- Given by hand. What comes from groups is never copied: the mapping is looked up whenever somebody asks.
CREATE TABLE identity.manual_role (
  member_id uuid NOT NULL REFERENCES identity.member,
  role text NOT NULL,
  PRIMARY KEY (member_id, role)
);

CREATE TABLE identity.group_mapping (
  organization text NOT NULL,
  group_name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('role', 'team')),
  -- The role, or the name of the team.
  gives text NOT NULL,
  PRIMARY KEY (organization, group_name, kind, gives)
);

CREATE VIEW identity.held_role AS
  SELECT member_id, role, 'manual' AS source, '' AS group_name FROM identity.manual_role
  UNION ALL
  SELECT member.member_id, mapping.gives, 'group', mapping.group_name
  FROM identity.member JOIN identity.group_mapping mapping
    ON mapping.organization = member.organization AND mapping.kind = 'role' AND mapping.group_name = ANY (member.groups);

CREATE VIEW identity.team_membership AS
  SELECT organization, team, principal FROM identity.team_member
  UNION
  SELECT member.organization, team.name, member.principal
  FROM identity.member
  JOIN identity.group_mapping mapping
    ON mapping.organization = member.organization AND mapping.kind = 'team' AND mapping.group_name = ANY (member.groups)
  JOIN identity.team ON team.organization = member.organization AND team.name = mapping.gives;

-- What lets a member in. Of a secret only the hash is kept. Those of one login are a family.
CREATE TABLE identity.credential (
  credential_id uuid PRIMARY KEY,
  family_id uuid NOT NULL,
  member_id uuid NOT NULL REFERENCES identity.member,
  sha256 bytea NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('browser', 'cli', 'code', 'refresh')),
  label text NOT NULL DEFAULT '',
  -- PKCE, of a code.
  code_challenge text,
  idle_seconds integer,
  authenticated_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  -- A code and a refresh token are good once.
  swapped_at timestamptz,
  revoked_at timestamptz
) WITH (fillfactor = 80);
CREATE INDEX credential_by_member ON identity.credential (member_id, expires_at);
CREATE INDEX credential_by_family ON identity.credential (family_id);
CREATE INDEX credential_by_end ON identity.credential (expires_at);

CREATE TABLE identity.login_attempt (
  state_sha256 bytea PRIMARY KEY,
  browser_sha256 bytea NOT NULL,
  organization text NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  return_to text NOT NULL,
  -- Of a command that waits for the end: port, state, code challenge, label.
  receiver jsonb,
  begun_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_attempt_by_time ON identity.login_attempt (begun_at);

CREATE TABLE identity.device_attempt (
  device_sha256 bytea PRIMARY KEY,
  organization text NOT NULL,
  user_code text NOT NULL,
  label text NOT NULL,
  address text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT now(),
  -- When the command last asked whether somebody has answered.
  polled_at timestamptz,
  answer text CHECK (answer IN ('allow', 'deny')),
  member_id uuid REFERENCES identity.member,
  UNIQUE (organization, user_code)
);
CREATE INDEX device_attempt_by_time ON identity.device_attempt (begun_at);

-- Codes that somebody typed and that nobody had been given.
CREATE TABLE identity.wrong_device_code (
  organization text NOT NULL,
  principal text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX wrong_device_code_by_principal ON identity.wrong_device_code (organization, principal, at);

-- Who becomes the first administrator when they log in.
CREATE TABLE identity.named_administrator (
  organization text PRIMARY KEY,
  email text NOT NULL
);

GRANT SELECT, INSERT, UPDATE (name, email, state, groups, last_seen_at) ON identity.member TO hlvm_policy;
GRANT SELECT, INSERT, DELETE ON identity.manual_role, identity.group_mapping, identity.named_administrator, identity.wrong_device_code,
  identity.login_attempt TO hlvm_policy;
GRANT SELECT, INSERT, UPDATE (answer, member_id, polled_at), DELETE ON identity.device_attempt TO hlvm_policy;
GRANT SELECT, INSERT, UPDATE (last_used_at, swapped_at, revoked_at), DELETE ON identity.credential TO hlvm_policy;
GRANT SELECT ON identity.held_role, identity.team_membership TO hlvm_policy;

DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''member_logged_in'', ''login_failed'', ''member_logged_out'', ''member_role_added'', ''member_role_removed'', ''group_mapped'', ''group_unmapped'', ''member_suspended'', ''member_resumed'', ''member_groups_changed'', ''administrator_named'', ''device_answered'', ''credential_reused'')) NOT VALID',
    former);
END $$;
