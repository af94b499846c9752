CREATE TABLE session (
  session_id uuid PRIMARY KEY,
  organization text NOT NULL,
  owner text NOT NULL,
  title text NOT NULL,
  workspace text NOT NULL,
  -- As they were when the session began: the prompt's prefix must not change within it.
  git_repository boolean NOT NULL,
  git_branch text NOT NULL,
  model text NOT NULL,
  stateless boolean NOT NULL,
  last_seq bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

CREATE INDEX session_by_owner ON session (organization, owner);
CREATE INDEX session_stateless ON session (session_id) WHERE stateless;

CREATE TABLE run (
  run_id uuid PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES session ON DELETE CASCADE,
  principal text NOT NULL,
  -- Made anew for every claim, so that a process is fenced from its own lost claims too.
  lease_owner uuid NOT NULL,
  lease_until timestamptz NOT NULL,
  cancel_requested_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- hlvm.session.v1.StopReason
  stop_reason smallint,
  CHECK ((ended_at IS NULL) = (stop_reason IS NULL))
);

-- One run at a time in a session.
CREATE UNIQUE INDEX run_live ON run (session_id) WHERE ended_at IS NULL;
CREATE INDEX run_by_session ON run (session_id, started_at DESC);
CREATE INDEX run_by_lease ON run (lease_until) WHERE ended_at IS NULL;

CREATE TABLE event (
  session_id uuid NOT NULL REFERENCES session ON DELETE CASCADE,
  seq bigint NOT NULL,
  run_id uuid NOT NULL,
  turn integer NOT NULL,
  type text NOT NULL,
  -- A hlvm.session.v1.Event with nothing but its payload. Bytes, since a tool's output may hold what text and jsonb refuse.
  payload bytea NOT NULL,
  principal text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (session_id, seq)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the event log is append-only';
END
$$;

CREATE TRIGGER event_is_append_only BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();
