-- Set where the audit log may lack outcomes of a run that is over: when to see to it next. The run's delegation is kept until
-- nothing is missing any more.
ALTER TABLE run ADD COLUMN reconcile_at timestamptz;
ALTER TABLE run ADD COLUMN reconcile_attempts integer NOT NULL DEFAULT 0;
CREATE INDEX run_to_reconcile ON run (reconcile_at) WHERE reconcile_at IS NOT NULL;
