-- Which models a token is for: `provider/name`, `*` stands for whatever is there. None: all.
ALTER TABLE identity.token ADD COLUMN allowed_models text[] NOT NULL DEFAULT '{}';
GRANT INSERT (allowed_models), SELECT (allowed_models) ON identity.token TO hlvm_policy;

-- Calls of models through the model doors are on record.
DO $$
DECLARE
  former text;
BEGIN
  SELECT pg_get_expr(conbin, conrelid) INTO STRICT former FROM pg_constraint
  WHERE conrelid = 'audit_event'::regclass AND conname = 'audit_event_kind_check';
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE format(
    'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check CHECK ((%s) OR kind IN (''model_called'')) NOT VALID',
    former);
END $$;
