-- Keys of providers, each sealed by a data key of its own, which a key-encryption key wraps that is not here.
CREATE TABLE provider_key (
  key_id uuid PRIMARY KEY,
  organization text NOT NULL CHECK (organization <> ''),
  -- Empty: of the whole organization.
  team text NOT NULL,
  provider text NOT NULL,
  name text NOT NULL CHECK (name <> ''),
  wrapped_by text NOT NULL,
  wrapped_key bytea NOT NULL,
  sealed bytea NOT NULL,
  -- The secret's last characters.
  ending text NOT NULL,
  -- Grows with every secret.
  version int NOT NULL DEFAULT 1,
  changed_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  rotated_at timestamptz,
  UNIQUE (organization, team, provider, name)
);
