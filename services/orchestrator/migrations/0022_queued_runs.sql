-- Since when a run waits until another one has ended; nobody holds it meanwhile. A release before this one claims it at once,
-- which costs room and loses nothing.
ALTER TABLE run ADD COLUMN queued_at timestamptz;
-- By person, since each is given a turn.
CREATE INDEX run_queued ON run (principal, queued_at) WHERE ended_at IS NULL AND queued_at IS NOT NULL;
-- As before, and without those that wait for room.
DROP INDEX run_claimable;
CREATE INDEX run_claimable ON run (started_at) WHERE ended_at IS NULL
  AND ((parked_until IS NULL AND queued_at IS NULL) OR lease_owner <> '00000000-0000-0000-0000-000000000000' OR cancel_requested_at IS NOT NULL);
