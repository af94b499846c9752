-- This database and what is in it belong to a role that nobody logs in as; migrations run as that role. The service logs in
-- as hlvm_policy and may do what is granted here: to the log it can add, through one function, and nothing else.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hlvm_policy') THEN
    CREATE ROLE hlvm_policy NOLOGIN;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

-- Appends an event, given as its record, and gives its id: NULL where the call has such an event already, or where an
-- outcome has no allowed call. The columns are read from the record, so that the two cannot differ; those of an outcome that
-- its record lacks are its intent's. An event can be neither backdated nor postdated by more than clocks differ.
CREATE FUNCTION append_audit_event(payload text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event record;
  appended bigint;
BEGIN
  SELECT * INTO event FROM json_to_record(append_audit_event.payload::json) AS (
    organization text, at timestamptz, kind text, principal text, "sessionId" uuid, "runId" uuid, "callId" text,
    tool text, decision text, step text
  );
  IF coalesce(event.organization, '') = '' OR coalesce(event.principal, '') = '' THEN
    RAISE EXCEPTION 'an audit event needs an organization and a principal' USING ERRCODE = 'check_violation';
  END IF;
  IF event.at IS NULL OR event.at NOT BETWEEN clock_timestamp() - interval '5 minutes' AND clock_timestamp() + interval '5 minutes' THEN
    RAISE EXCEPTION 'an audit event of % cannot be recorded now', coalesce(event.at::text, 'no time')
      USING ERRCODE = 'check_violation', HINT = 'The clocks of the service and of the database must agree within five minutes.';
  END IF;
  IF event.kind = 'outcome' THEN
    SELECT intent.tool, intent.decision, intent.step INTO event.tool, event.decision, event.step
    FROM public.audit_event intent
    WHERE intent.kind = 'intent' AND intent.organization = event.organization AND intent.session_id = event."sessionId"
      AND intent.call_id = event."callId" AND intent.run_id = event."runId" AND intent.principal = event.principal
      AND intent.decision = 'allow';
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  INSERT INTO public.audit_event (organization, at, kind, principal, session_id, run_id, call_id, tool, decision, step, payload)
  VALUES (event.organization, event.at, event.kind, event.principal, event."sessionId", event."runId", event."callId",
    event.tool, event.decision, event.step, append_audit_event.payload)
  ON CONFLICT DO NOTHING RETURNING id INTO appended;
  RETURN appended;
END
$$;

REVOKE ALL ON FUNCTION append_audit_event(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_audit_event(text) TO hlvm_policy;
GRANT SELECT ON audit_event, migration TO hlvm_policy;
GRANT SELECT, INSERT, UPDATE ON approval TO hlvm_policy;
