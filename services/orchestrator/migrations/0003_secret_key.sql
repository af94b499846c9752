-- Of the marks that stand in the place of secrets: the same secret has the same mark in one session, and another in the next.
ALTER TABLE session ADD COLUMN secret_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
