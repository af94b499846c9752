DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''session_shared'', ''session_unshared'')) NOT VALID',
    former);
END $$;
