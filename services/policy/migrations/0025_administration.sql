-- That a person changed what another service keeps is on record. The kinds that there are by now are taken over as they are: other migrations add some too.
DO $$
DECLARE
  rule text;
BEGIN
  SELECT replace(pg_get_constraintdef(oid), 'ARRAY[', 'ARRAY[''administered''::text, ') INTO rule
  FROM pg_constraint WHERE conname = 'audit_event_kind_check' AND conrelid = 'audit_event'::regclass;
  ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
  EXECUTE 'ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check ' || replace(rule, ' NOT VALID', '') || ' NOT VALID';
END
$$;
