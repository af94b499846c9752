-- The audit log: rows are added and never changed. `payload` is the record, in canonical JSON; the other columns are
-- copies of its fields to find it by.
CREATE TABLE audit_event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization text NOT NULL,
  at timestamptz NOT NULL,
  kind text NOT NULL CHECK (kind IN ('intent', 'outcome', 'approval_requested', 'approval_answered', 'audit_read')),
  principal text NOT NULL,
  session_id uuid,
  run_id uuid,
  call_id text,
  tool text,
  decision text,
  step text,
  payload text NOT NULL
);

-- One decision and one outcome for a call.
CREATE UNIQUE INDEX audit_event_intent ON audit_event (organization, session_id, call_id) WHERE kind = 'intent';
CREATE UNIQUE INDEX audit_event_outcome ON audit_event (organization, session_id, call_id) WHERE kind = 'outcome';
CREATE INDEX audit_event_organization ON audit_event (organization, id);
CREATE INDEX audit_event_tool ON audit_event (organization, tool, id);
CREATE INDEX audit_event_principal ON audit_event (organization, principal, id);
CREATE INDEX audit_event_session ON audit_event (organization, session_id, id);
CREATE INDEX audit_event_at ON audit_event USING brin (at);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'permission denied: % is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_event_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What waits, or waited, for a person. `arguments_json` are the very bytes that would run; they go when the approval was used.
CREATE TABLE approval (
  approval_id uuid PRIMARY KEY,
  organization text NOT NULL,
  session_id uuid NOT NULL,
  run_id uuid NOT NULL,
  call_id text NOT NULL,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  tool text NOT NULL,
  definition_hash text NOT NULL,
  arguments_json text NOT NULL,
  arguments_hash text NOT NULL,
  safety_level text NOT NULL,
  trust_tier text NOT NULL,
  mode text NOT NULL,
  scope text[] NOT NULL,
  step text NOT NULL,
  rule text NOT NULL,
  reason text NOT NULL,
  answer text CHECK (answer IN ('once', 'session', 'deny')),
  answered_by text,
  answered_at timestamptz,
  -- When the answer was taken by the run that waited for it: only once.
  used_at timestamptz,
  UNIQUE (organization, session_id, call_id)
);

CREATE INDEX approval_pending ON approval (organization, requested_at) WHERE answer IS NULL;
CREATE INDEX approval_session ON approval (organization, session_id, tool) WHERE answer = 'session';
CREATE INDEX approval_with_arguments ON approval (expires_at) WHERE arguments_json <> '';
