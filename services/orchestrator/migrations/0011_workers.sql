-- A worker's session goes with that of its parent. The run that started it, the session whose workspace it works in, how far
-- it is below a run that is no worker, and the name of its profile; null and empty of all others.
ALTER TABLE session ADD COLUMN parent_session_id uuid REFERENCES session ON DELETE CASCADE;
ALTER TABLE session ADD COLUMN parent_run_id uuid;
ALTER TABLE session ADD COLUMN work_session_id uuid;
ALTER TABLE session ADD COLUMN worker_depth smallint NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN agent_type text NOT NULL DEFAULT '';

CREATE INDEX session_by_parent ON session (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX session_by_parent_run ON session (parent_run_id) WHERE parent_run_id IS NOT NULL;
