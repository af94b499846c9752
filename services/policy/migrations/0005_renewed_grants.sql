-- The grant of an allowed call may be given again, for the very same call, to whoever took over its run: `grant_renewed`. Where the
-- rules deny it by then that is `renewal_denied`, and stands. NOT VALID: every row that is there fits the narrower rule of before.
ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check
  CHECK (kind IN ('intent', 'outcome', 'approval_requested', 'approval_answered', 'approval_withdrawn', 'audit_read',
    'grant_renewed', 'renewal_denied')) NOT VALID;

-- As before (0003_audit_roles.sql), and NULL also for a renewal that cannot be: where no call of this tool, definition and arguments
-- was allowed to this principal and run, its outcome is there, a renewal of it was denied, or it was renewed 20 times.
-- Renewals of a call are found by its session from its intent on: they are few, and need no index of their own.
CREATE OR REPLACE FUNCTION append_audit_event(payload text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event record;
  intent public.audit_event;
  appended bigint;
BEGIN
  SELECT * INTO event FROM json_to_record(append_audit_event.payload::json) AS (
    organization text, at timestamptz, kind text, principal text, "sessionId" uuid, "runId" uuid, "callId" text,
    tool text, decision text, step text, "argumentsHash" text, "definitionHash" text
  );
  IF coalesce(event.organization, '') = '' OR coalesce(event.principal, '') = '' THEN
    RAISE EXCEPTION 'an audit event needs an organization and a principal' USING ERRCODE = 'check_violation';
  END IF;
  IF event.at IS NULL OR event.at NOT BETWEEN clock_timestamp() - interval '5 minutes' AND clock_timestamp() + interval '5 minutes' THEN
    RAISE EXCEPTION 'an audit event of % cannot be recorded now', coalesce(event.at::text, 'no time')
      USING ERRCODE = 'check_violation', HINT = 'The clocks of the service and of the database must agree within five minutes.';
  END IF;
  IF event.kind IN ('outcome', 'grant_renewed', 'renewal_denied') THEN
    -- The lock gives an outcome and the renewals of its call one order: no renewal follows the outcome, and none is miscounted.
    SELECT * INTO intent FROM public.audit_event call
    WHERE call.kind = 'intent' AND call.organization = event.organization AND call.session_id = event."sessionId"
      AND call.call_id = event."callId" AND call.run_id = event."runId" AND call.principal = event.principal
      AND call.decision = 'allow'
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  IF event.kind = 'outcome' THEN
    event.tool := intent.tool;
    event.decision := intent.decision;
    event.step := intent.step;
  END IF;
  IF event.kind IN ('grant_renewed', 'renewal_denied') THEN
    IF event.decision IS DISTINCT FROM (CASE event.kind WHEN 'grant_renewed' THEN 'allow' ELSE 'deny' END) THEN
      RAISE EXCEPTION 'the decision of a % cannot be %', event.kind, coalesce(event.decision, 'left out') USING ERRCODE = 'check_violation';
    END IF;
    IF (intent.tool = event.tool AND intent.payload::json->>'argumentsHash' = event."argumentsHash"
      AND intent.payload::json->>'definitionHash' = event."definitionHash") IS NOT TRUE THEN
      RETURN NULL;
    END IF;
    IF EXISTS (
      SELECT FROM public.audit_event outcome WHERE outcome.kind = 'outcome' AND outcome.organization = event.organization
        AND outcome.session_id = event."sessionId" AND outcome.call_id = event."callId"
    ) OR EXISTS (
      SELECT FROM public.audit_event renewal WHERE renewal.organization = event.organization AND renewal.session_id = event."sessionId"
        AND renewal.call_id = event."callId" AND renewal.id > intent.id AND renewal.kind IN ('grant_renewed', 'renewal_denied')
      HAVING count(*) FILTER (WHERE renewal.kind = 'renewal_denied') > 0
        OR (event.kind = 'grant_renewed' AND count(*) >= 20)
    ) THEN
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
